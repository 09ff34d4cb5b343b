//! Where tensors live and with how many digits.

use burn_tensor::{DType, Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A device and a precision, chosen at run time.
#[derive(Clone, Debug)]
pub struct Place {
    device: Device,
    precision: Precision,
}

/// How many digits tensors have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits, as the networks were trained.
    #[default]
    Single,
    /// 64 bits, for checks of gradients. Not every GPU has it.
    Double,
}

/// The devices that a user can ask for by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceChoice {
    /// The processor.
    #[default]
    Cpu,
    /// A GPU through Vulkan, Metal or DirectX; needs the feature `wgpu`.
    Wgpu,
    /// A GPU of NVIDIA's; needs the feature `cuda`.
    Cuda,
}

/// Why a device cannot be had.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// The program was built without it.
    #[error("expected a program with the device {0}, found one that was built without it (its feature is lsi-{0})")]
    NotBuilt(&'static str),
    /// The machine has none.
    #[error("expected a device for {0} in this machine, found none")]
    NotFound(&'static str),
}

impl DeviceChoice {
    /// The first device of this kind.
    ///
    /// # Errors
    ///
    /// A device that this program was built without, or that the machine does not have.
    pub fn find(self) -> Result<Device, DeviceError> {
        match self {
            Self::Cpu => Ok(Device::flex()),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => first(burn_tensor::DeviceType::Wgpu, "wgpu"),
            #[cfg(not(feature = "wgpu"))]
            Self::Wgpu => Err(DeviceError::NotBuilt("wgpu")),
            #[cfg(feature = "cuda")]
            Self::Cuda => first(burn_tensor::DeviceType::Cuda, "cuda"),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => Err(DeviceError::NotBuilt("cuda")),
        }
    }
}

#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn first(kind: burn_tensor::DeviceType, name: &'static str) -> Result<Device, DeviceError> {
    Device::enumerate(kind).into_iter().next().ok_or(DeviceError::NotFound(name))
}

impl Place {
    /// A place on `device`.
    pub fn new(device: Device, precision: Precision) -> Self {
        Self { device, precision }
    }

    /// The CPU.
    pub fn cpu(precision: Precision) -> Self {
        Self::new(Device::flex(), precision)
    }

    /// A tensor of `values` in row-major order.
    ///
    /// # Panics
    ///
    /// When the number of values is not that of the shape.
    pub fn tensor<const D: usize>(&self, values: Vec<f64>, shape: [usize; D]) -> Tensor<D> {
        assert_eq!(values.len(), shape.iter().product::<usize>(), "tensor: the values must fill the shape {shape:?}");
        let data = match self.precision {
            Precision::Single => TensorData::new(values.into_iter().map(|x| x as f32).collect(), shape),
            Precision::Double => TensorData::new(values, shape),
        };
        Tensor::from_data(data, (&self.device, self.dtype()))
    }

    fn dtype(&self) -> DType {
        match self.precision {
            Precision::Single => DType::F32,
            Precision::Double => DType::F64,
        }
    }
}

/// The elements of a tensor in row-major order.
///
/// # Panics
///
/// When the device fails to hand them over.
pub fn to_vec<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.try_into_vec_as::<f64>().unwrap_or_else(|error| panic!("the device did not return a tensor: {error}"))
}
