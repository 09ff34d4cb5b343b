//! An allocator that keeps large blocks.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, except that large blocks are kept when they are freed and handed out again.
///
/// The tensors of a network are tens of megabytes each, have few different sizes and live for milliseconds. The system
/// gives such blocks back to the kernel at once, and the kernel hands over every page of the next one anew, which took half
/// of the time of an evaluation of faces. A program that runs networks makes this its allocator:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: luminary_lsi::Recycler = luminary_lsi::Recycler::new();
/// ```
pub struct Recycler {
    kept: Mutex<Kept>,
}

/// Blocks from this size on are kept.
const LARGE: usize = 256 << 10;
/// Sizes are rounded up to multiples of this, so that blocks fit again.
const STEP: usize = 64 << 10;
/// Large blocks are aligned to this, which is more than anybody asks for.
const ALIGNMENT: usize = 4096;
/// No more bytes are kept than this.
const MAX_BYTES: usize = 1 << 30;
/// No more blocks are kept than this.
const MAX_BLOCKS: usize = 256;

/// Freed blocks, oldest first.
struct Kept {
    blocks: [Block; MAX_BLOCKS],
    n_blocks: usize,
    n_bytes: usize,
}

#[derive(Clone, Copy)]
struct Block {
    start: *mut u8,
    size: usize,
}

// SAFETY: a kept block belongs to nobody else.
unsafe impl Send for Block {}

impl Recycler {
    /// An allocator that keeps nothing yet.
    pub const fn new() -> Self {
        let none = Block { start: ptr::null_mut(), size: 0 };
        Self { kept: Mutex::new(Kept { blocks: [none; MAX_BLOCKS], n_blocks: 0, n_bytes: 0 }) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics while the lock is held.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Recycler {
    fn default() -> Self {
        Self::new()
    }
}

impl Kept {
    /// The youngest block of this size, whose pages are the likeliest to be in a cache.
    fn take(&mut self, size: usize) -> Option<*mut u8> {
        let index = self.blocks[..self.n_blocks].iter().rposition(|block| block.size == size)?;
        Some(self.remove(index).start)
    }

    fn remove(&mut self, index: usize) -> Block {
        let block = self.blocks[index];
        self.blocks.copy_within(index + 1..self.n_blocks, index);
        self.n_blocks -= 1;
        self.n_bytes -= block.size;
        block
    }

    /// Keeps a block of at most [`MAX_BYTES`] and gives the oldest ones back for which there is no room.
    fn keep(&mut self, block: Block) {
        while self.n_blocks == MAX_BLOCKS || self.n_bytes + block.size > MAX_BYTES {
            let oldest = self.remove(0);
            // SAFETY: the block came from `System` with this layout and nobody has it.
            unsafe { System.dealloc(oldest.start, large_layout(oldest.size)) };
        }
        self.blocks[self.n_blocks] = block;
        self.n_blocks += 1;
        self.n_bytes += block.size;
    }
}

/// The size of the block that serves a layout, if it is one that is kept.
fn large_size(layout: Layout) -> Option<usize> {
    let is_large = (LARGE..=MAX_BYTES).contains(&layout.size()) && layout.align() <= ALIGNMENT;
    is_large.then(|| layout.size().next_multiple_of(STEP))
}

fn large_layout(size: usize) -> Layout {
    Layout::from_size_align(size, ALIGNMENT).expect("the size of a large block is far from overflowing")
}

// SAFETY: every block comes from `System`, large ones with the layout of their rounded size, and goes back there with the
// same layout; a kept block is handed out once, because it is removed from the list first.
unsafe impl GlobalAlloc for Recycler {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match large_size(layout) {
            // SAFETY: the size is not zero.
            Some(size) => self.kept().take(size).unwrap_or_else(|| unsafe { System.alloc(large_layout(size)) }),
            // SAFETY: as the caller promises.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(size) = large_size(layout) else {
            // SAFETY: as the caller promises.
            return unsafe { System.alloc_zeroed(layout) };
        };
        let kept = self.kept().take(size);
        match kept {
            Some(start) => {
                // SAFETY: the block has at least `layout.size()` bytes.
                unsafe { start.write_bytes(0, layout.size()) };
                start
            }
            // SAFETY: the size is not zero.
            None => unsafe { System.alloc_zeroed(large_layout(size)) },
        }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        match large_size(layout) {
            Some(size) => self.kept().keep(Block { start, size }),
            // SAFETY: as the caller promises.
            None => unsafe { System.dealloc(start, layout) },
        }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the new size does not overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        match (large_size(layout), large_size(new_layout)) {
            // SAFETY: as the caller promises.
            (None, None) => unsafe { System.realloc(start, layout, new_size) },
            (Some(size), Some(new)) if size == new => start,
            _ => {
                // SAFETY: the new layout is valid, and both blocks have the bytes that are copied.
                unsafe {
                    let new_start = self.alloc(new_layout);
                    if !new_start.is_null() {
                        start.copy_to_nonoverlapping(new_start, layout.size().min(new_size));
                        self.dealloc(start, layout);
                    }
                    new_start
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 16).unwrap()
    }

    #[test]
    fn a_large_block_is_handed_out_again_and_is_zero_when_asked_for() {
        let recycler = Recycler::new();
        // SAFETY: sizes are not zero, and every block is freed once with its layout.
        unsafe {
            let first = recycler.alloc(layout(LARGE + 1));
            first.write_bytes(7, LARGE + 1);
            recycler.dealloc(first, layout(LARGE + 1));
            let second = recycler.alloc_zeroed(layout(LARGE + 5));
            assert_eq!(second, first, "both sizes round up to the same");
            assert!((0..LARGE + 5).all(|i| *second.add(i) == 0));
            recycler.dealloc(second, layout(LARGE + 5));
            assert_eq!(recycler.kept().n_blocks, 1);
            let small = recycler.alloc(layout(100));
            recycler.dealloc(small, layout(100));
            assert_eq!(recycler.kept().n_blocks, 1);
        }
    }

    #[test]
    fn a_block_that_grows_or_shrinks_keeps_its_bytes() {
        let recycler = Recycler::new();
        let sizes = [100, LARGE, LARGE + STEP, 2 * LARGE, LARGE - 1, 50, 3 * LARGE];
        // SAFETY: sizes are not zero, and every block is freed once with its layout.
        unsafe {
            let mut start = recycler.alloc(layout(sizes[0]));
            (0..50).for_each(|i| *start.add(i) = i as u8);
            for pair in sizes.windows(2) {
                start = recycler.realloc(start, layout(pair[0]), pair[1]);
                assert!((0..50).all(|i| *start.add(i) == i as u8), "{pair:?}");
            }
            recycler.dealloc(start, layout(3 * LARGE));
        }
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let recycler = Recycler::new();
        // SAFETY: sizes are not zero, and every block is freed once with its layout.
        unsafe {
            let blocks: Vec<*mut u8> = (0..MAX_BLOCKS + 3).map(|_| recycler.alloc(layout(LARGE))).collect();
            blocks.iter().for_each(|&block| recycler.dealloc(block, layout(LARGE)));
            assert_eq!(recycler.kept().n_blocks, MAX_BLOCKS);
            let halves = [recycler.alloc(layout(MAX_BYTES / 2)), recycler.alloc(layout(MAX_BYTES / 2))];
            halves.iter().for_each(|&block| recycler.dealloc(block, layout(MAX_BYTES / 2)));
        }
        let kept = recycler.kept();
        assert_eq!((kept.n_blocks, kept.n_bytes), (2, MAX_BYTES));
    }
}
