//! Convolutions as products with the matrix of all patches, a strip of rows at a time.

use std::mem::MaybeUninit;
use std::ops::Range;

use burn_tensor::Tensor;

use super::{Elements, tensor};

/// How a kernel moves over an image.
#[derive(Clone, Copy, Debug)]
pub(in crate::tape) struct Geometry {
    /// Pixels from one place to the next.
    pub stride: usize,
    /// Zeros around the image.
    pub padding: usize,
    /// Into how many groups channels fall; each has kernels of its own. The functions below know one group only.
    pub groups: usize,
}

/// A strip's patches are at most about this many numbers: small enough for a cache, large enough that reading the kernels
/// once for each strip does not count.
pub(super) const STRIP: usize = 1 << 20;

/// Correlates images (n by inputs by height by width) with kernels (outputs by inputs by height by width).
pub(in crate::tape) fn correlate(x: Tensor<4>, kernel: &Tensor<4>, geometry: Geometry) -> Tensor<4> {
    let [n, _, height, width] = x.dims();
    let patches = Patches::new(kernel.dims(), [height, width], geometry);
    let (x, kernel) = (Elements::of(x), Elements::of(kernel.clone()));
    let y_len = patches.n_outputs * patches.n_places();
    let mut y = Vec::with_capacity(n * y_len);
    let (mut matrix, images) = (Vec::new(), x.get().chunks_exact(patches.n_inputs * height * width));
    for (image, y) in images.zip(y.spare_capacity_mut().chunks_exact_mut(y_len)) {
        if patches.are_the_image() {
            patches.multiply(kernel.get(), image, 0..patches.out_height, y);
            continue;
        }
        for rows in patches.strips() {
            patches.gather(image, rows.clone(), &mut matrix);
            patches.multiply(kernel.get(), &matrix, rows, y);
        }
    }
    // SAFETY: the products of all rows of all images have been written.
    unsafe { y.set_len(n * y_len) };
    tensor(y, [n, patches.n_outputs, patches.out_height, patches.out_width])
}

/// The adjoint of [`correlate`]: each pixel (n by outputs by height by width) adds the kernel times its value to a result of
/// the given height and width.
pub(in crate::tape) fn spread(y: Tensor<4>, kernel: &Tensor<4>, geometry: Geometry, size: [usize; 2]) -> Tensor<4> {
    let n = y.dims()[0];
    let patches = Patches::new(kernel.dims(), size, geometry);
    let (y, kernel) = (Elements::of(y), Elements::of(kernel.clone()));
    let image_len = patches.n_inputs * size[0] * size[1];
    let images = y.get().chunks_exact(patches.n_outputs * patches.n_places());
    if patches.are_the_image() {
        let mut x = Vec::with_capacity(n * image_len);
        for (y, x) in images.zip(x.spare_capacity_mut().chunks_exact_mut(image_len)) {
            patches.multiply_transposed(kernel.get(), y, 0..patches.out_height, x);
        }
        // SAFETY: the products of all images have been written.
        unsafe { x.set_len(n * image_len) };
        return tensor(x, [n, patches.n_inputs, size[0], size[1]]);
    }
    let (mut x, mut matrix) = (vec![0.0; n * image_len], Vec::<f32>::new());
    for (y, x) in images.zip(x.chunks_exact_mut(image_len)) {
        for rows in patches.strips() {
            let matrix_len = patches.patch_len() * rows.len() * patches.out_width;
            matrix.clear();
            matrix.reserve(matrix_len);
            patches.multiply_transposed(kernel.get(), y, rows.clone(), &mut matrix.spare_capacity_mut()[..matrix_len]);
            // SAFETY: the product has been written.
            unsafe { matrix.set_len(matrix_len) };
            patches.scatter(&matrix, rows, x);
        }
    }
    tensor(x, [n, patches.n_inputs, size[0], size[1]])
}

/// The patches of an image that a kernel is multiplied with, one for each place.
struct Patches {
    n_outputs: usize,
    n_inputs: usize,
    kernel: [usize; 2],
    height: usize,
    width: usize,
    out_height: usize,
    out_width: usize,
    geometry: Geometry,
}

impl Patches {
    fn new(
        [n_outputs, n_inputs, kernel_height, kernel_width]: [usize; 4],
        size: [usize; 2],
        geometry: Geometry,
    ) -> Self {
        let [height, width] = size;
        let places = |size: usize, kernel: usize| (size + 2 * geometry.padding - kernel) / geometry.stride + 1;
        Self {
            n_outputs,
            n_inputs,
            kernel: [kernel_height, kernel_width],
            height,
            width,
            out_height: places(height, kernel_height),
            out_width: places(width, kernel_width),
            geometry,
        }
    }

    fn n_places(&self) -> usize {
        self.out_height * self.out_width
    }

    fn patch_len(&self) -> usize {
        self.n_inputs * self.kernel[0] * self.kernel[1]
    }

    /// Patches of one pixel each: nothing has to be gathered.
    fn are_the_image(&self) -> bool {
        self.kernel == [1, 1] && self.geometry.stride == 1 && self.geometry.padding == 0
    }

    /// Rows of places that are worked on together.
    fn strips(&self) -> impl Iterator<Item = Range<usize>> {
        let n_rows = (STRIP / (self.patch_len() * self.out_width)).max(1);
        let height = self.out_height;
        (0..height).step_by(n_rows).map(move |start| start..(start + n_rows).min(height))
    }

    /// For each element of a patch and each row of places, in the order of the matrix: which row of the planes, if it is
    /// inside the image, and which column the first of the places is at.
    fn runs(&self, rows: Range<usize>) -> impl Iterator<Item = (Option<usize>, isize)> {
        let (Geometry { stride, padding, .. }, height) = (self.geometry, self.height);
        let [kernel_height, kernel_width] = self.kernel;
        let elements = (0..self.n_inputs).flat_map(move |channel| {
            (0..kernel_height).flat_map(move |y| (0..kernel_width).map(move |x| (channel, y, x)))
        });
        elements.flat_map(move |(channel, y, x)| {
            rows.clone().map(move |row| {
                let inside = (row * stride + y).checked_sub(padding).filter(|&row| row < height);
                (inside.map(|row| channel * height + row), x as isize - padding as isize)
            })
        })
    }

    /// The places whose pixel at `first + place * stride` is inside the image, and the first of those pixels.
    fn inside(&self, first: isize) -> (Range<usize>, usize) {
        let stride = self.geometry.stride as isize;
        let start = if first < 0 { (-first + stride - 1) / stride } else { 0 };
        let end = (self.width as isize - first + stride - 1) / stride;
        let end = end.clamp(start, self.out_width as isize);
        (start as usize..end as usize, (first + start * stride) as usize)
    }

    /// Writes the patches of `rows` of places as columns of a matrix.
    fn gather(&self, image: &[f32], rows: Range<usize>, matrix: &mut Vec<f32>) {
        matrix.resize(self.patch_len() * rows.len() * self.out_width, 0.0);
        for (run, (row, first)) in matrix.chunks_exact_mut(self.out_width).zip(self.runs(rows)) {
            let Some(row) = row else {
                run.fill(0.0);
                continue;
            };
            let (places, pixel) = self.inside(first);
            let pixels = &image[row * self.width..(row + 1) * self.width];
            run[..places.start].fill(0.0);
            run[places.end..].fill(0.0);
            match self.geometry.stride {
                1 => run[places.clone()].copy_from_slice(&pixels[pixel..pixel + places.len()]),
                stride => {
                    let pixels = pixels[pixel.min(self.width)..].iter().step_by(stride);
                    run[places].iter_mut().zip(pixels).for_each(|(to, &from)| *to = from);
                }
            }
        }
    }

    /// Adds what [`gather`](Self::gather) would have read.
    fn scatter(&self, matrix: &[f32], rows: Range<usize>, image: &mut [f32]) {
        for (run, (row, first)) in matrix.chunks_exact(self.out_width).zip(self.runs(rows)) {
            let Some(row) = row else { continue };
            let (places, pixel) = self.inside(first);
            let pixels = &mut image[row * self.width..(row + 1) * self.width];
            match self.geometry.stride {
                1 => {
                    let pixels = &mut pixels[pixel..pixel + places.len()];
                    pixels.iter_mut().zip(&run[places]).for_each(|(to, &from)| *to += from);
                }
                stride => {
                    let pixels = pixels[pixel.min(self.width)..].iter_mut().step_by(stride);
                    pixels.zip(&run[places]).for_each(|(to, &from)| *to += from);
                }
            }
        }
    }

    /// Writes `kernels matrix`, the outputs of all places of `rows`.
    fn multiply(&self, kernels: &[f32], matrix: &[f32], rows: Range<usize>, y: &mut [MaybeUninit<f32>]) {
        let (k, n) = (self.patch_len(), rows.len() * self.out_width);
        let y = &mut y[rows.start * self.out_width..];
        multiply([self.n_outputs, n, k], (kernels, [k, 1]), (matrix, n), (y, self.n_places()));
    }

    /// Writes `kernels^T y`, the matrix of patches of the places of `rows`.
    fn multiply_transposed(&self, kernels: &[f32], y: &[f32], rows: Range<usize>, matrix: &mut [MaybeUninit<f32>]) {
        let (m, n) = (self.patch_len(), rows.len() * self.out_width);
        let y = &y[rows.start * self.out_width..];
        multiply([m, n, self.n_outputs], (kernels, [1, m]), (y, self.n_places()), (matrix, n));
    }
}

/// Writes the product of an m by k and a k by n matrix. The first comes with the distances of its rows and of its columns, the
/// others with that of their rows.
fn multiply(
    [m, n, k]: [usize; 3],
    (left, left_strides): (&[f32], [usize; 2]),
    (right, right_stride): (&[f32], usize),
    (out, out_stride): (&mut [MaybeUninit<f32>], usize),
) {
    let end =
        |n_rows: usize, n_columns: usize, [row, column]: [usize; 2]| (n_rows - 1) * row + (n_columns - 1) * column;
    assert!(m > 0 && n > 0 && k > 0, "a product of {m} by {k} by {n}");
    assert!(end(m, k, left_strides) < left.len(), "the first factor ends before its last element");
    assert!(end(k, n, [right_stride, 1]) < right.len(), "the second factor ends before its last element");
    assert!(end(m, n, [out_stride, 1]) < out.len(), "the result has no room for its last element");
    let [left_row, left_column] = left_strides.map(|stride| stride as isize);
    // SAFETY: the last elements of the factors and of the result are inside the slices, and so are all others.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr().cast::<f32>(),
            1,
            out_stride as isize,
            false,
            left.as_ptr(),
            left_column,
            left_row,
            right.as_ptr(),
            1,
            right_stride as isize,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
