"""Luminary beside other libraries for quality diversity; see compare_peers.py."""
