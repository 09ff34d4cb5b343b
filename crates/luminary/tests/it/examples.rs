//! The examples run, and what they assert holds.

#[path = "../../examples/custom_archive.rs"]
mod custom_archive;

#[test]
fn an_archive_of_a_downstream_crate_is_searched_saved_and_restored() {
    custom_archive::main().unwrap();
}
