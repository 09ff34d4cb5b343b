//! Memory that stays with the process.

/// Has the system's allocator keep what is freed, up to 2 GiB, and hand it out again. Programs that run networks call this
/// first, before there are threads.
///
/// The tensors of a network are tens of megabytes each, have few different sizes and live for milliseconds. glibc maps such
/// blocks one by one and gives them back at once, and the kernel clears every page of the next one anew, which took half of
/// the time of an evaluation of faces. Other systems are left as they are.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (parameter, value) in [
        // One heap for all threads: those of single threads hold 64 MiB and are unmapped when they are empty.
        (libc::M_ARENA_MAX, 1),
        // Blocks of any size lie in it,
        (libc::M_MMAP_MAX, 0),
        // and it is not made shorter before so many bytes at its end are free.
        (libc::M_TRIM_THRESHOLD, libc::c_int::MAX),
    ] {
        // SAFETY: it takes two numbers and touches nothing but the allocator's own settings. One that is refused, which
        // costs time only, changes nothing.
        unsafe { libc::mallopt(parameter, value) };
    }
}
