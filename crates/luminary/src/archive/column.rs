//! Extra columns: values of any type that are kept with each elite.

use serde::{Deserialize, Serialize};

use crate::error::{CallError, ConfigError};

/// A user-declared column kept with each elite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraColumn {
    /// Its name.
    pub name: String,
    /// Values per elite.
    pub width: usize,
    /// The type of its values.
    #[serde(default = "double_precision")]
    pub dtype: Dtype,
}

fn double_precision() -> Dtype {
    Dtype::F64
}

impl ExtraColumn {
    /// A column of numbers of double precision.
    pub fn new(name: impl Into<String>, width: usize) -> Self {
        Self { name: name.into(), width, dtype: Dtype::F64 }
    }

    /// The same with values of another type.
    pub fn with_dtype(self, dtype: Dtype) -> Self {
        Self { dtype, ..self }
    }

    /// Checks that columns have distinct names and a width.
    pub(super) fn check_all(columns: &[Self]) -> Result<(), ConfigError> {
        for (i, column) in columns.iter().enumerate() {
            if column.width == 0 || columns[..i].iter().any(|earlier| earlier.name == column.name) {
                return Err(ConfigError::ExtraColumn { name: column.name.clone() });
            }
        }
        Ok(())
    }

    /// Checks that the values of a call are those of these columns: as many, of the same types, with a width for each
    /// row.
    ///
    /// # Errors
    /// The first that are not.
    pub(crate) fn check_values(columns: &[Self], values: &[ColumnData<'_>], n_rows: usize) -> Result<(), CallError> {
        let length = |what, shape, expected, found| match expected == found {
            true => Ok(()),
            false => Err(CallError::Length { what, shape, expected, found }),
        };
        length("extras", "extra columns", columns.len(), values.len())?;
        for (column, values) in columns.iter().zip(values) {
            if column.dtype != values.dtype() {
                let name = column.name.clone();
                return Err(CallError::Dtype { name, expected: column.dtype, found: values.dtype() });
            }
            length("an extra column", "rows x its width", n_rows * column.width, values.len())?;
        }
        Ok(())
    }
}

/// Values that are stored as bytes, the lowest first.
trait Value: Copy {
    const SIZE: usize;
    fn write(self, bytes: &mut Vec<u8>);
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Value for $type {
            const SIZE: usize = size_of::<$type>();

            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("as many bytes as the type has"))
            }
        }
    )*};
}

numbers!(f64, f32, i64, i32, i16, i8, u64, u32, u16, u8);

impl Value for bool {
    const SIZE: usize = 1;

    fn write(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }

    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}

fn row_of<T>(values: &[T], row: usize, width: usize) -> &[T] {
    &values[row * width..][..width]
}

/// Everything that is done to a column of each type alike.
macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident: $type:ty),* $(,)?) => {
        /// The type of an extra column's values. What is none of these can be kept as bytes ([`Dtype::U8`]).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Dtype {
            $($(#[$doc])* $name,)*
        }

        impl Dtype {
            /// Bytes of one value.
            pub fn size(self) -> usize {
                match self {
                    $(Self::$name => <$type>::SIZE,)*
                }
            }
        }

        /// Values of an extra column, row by row.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum ColumnData<'a> {
            $($(#[$doc])* $name(&'a [$type]),)*
        }

        impl<'a> ColumnData<'a> {
            /// The values of one row of `width` values.
            pub fn row(&self, row: usize, width: usize) -> ColumnData<'a> {
                match *self {
                    $(Self::$name(values) => ColumnData::$name(row_of(values, row, width)),)*
                }
            }

            /// The type of the values.
            pub fn dtype(&self) -> Dtype {
                match self {
                    $(Self::$name(_) => Dtype::$name,)*
                }
            }

            /// Number of values, all rows together.
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$name(values) => values.len(),)*
                }
            }

            /// The bytes of all values, the lowest of each first.
            pub fn to_le_bytes(&self) -> Vec<u8> {
                let mut bytes = Vec::with_capacity(self.len() * self.dtype().size());
                match self {
                    $(Self::$name(values) => values.iter().for_each(|value| value.write(&mut bytes)),)*
                }
                bytes
            }
        }

        $(impl<'a> From<&'a [$type]> for ColumnData<'a> {
            fn from(values: &'a [$type]) -> Self {
                Self::$name(values)
            }
        })*

        /// Values of an extra column that an archive owns.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum Column {
            $($name(Vec<$type>),)*
        }

        impl Column {
            pub(super) fn new(dtype: Dtype) -> Self {
                match dtype {
                    $(Dtype::$name => Self::$name(Vec::new()),)*
                }
            }

            /// So many zeros.
            pub(crate) fn zeros(dtype: Dtype, n_values: usize) -> Self {
                match dtype {
                    $(Dtype::$name => Self::$name(vec![<$type>::default(); n_values]),)*
                }
            }

            /// Replaces one row by zeros.
            pub(crate) fn zero_row(&mut self, row: usize, width: usize) {
                match self {
                    $(Self::$name(values) => values[row * width..][..width].fill(<$type>::default()),)*
                }
            }

            /// Reserves room for `n_values` values; false when there is none.
            pub(super) fn try_reserve(&mut self, n_values: usize) -> bool {
                match self {
                    $(Self::$name(values) => values.try_reserve_exact(n_values).is_ok(),)*
                }
            }

            pub(crate) fn data(&self) -> ColumnData<'_> {
                match self {
                    $(Self::$name(values) => ColumnData::$name(values),)*
                }
            }

            /// The values of one row.
            pub(super) fn row(&self, row: usize, width: usize) -> ColumnData<'_> {
                self.data().row(row, width)
            }

            pub(super) fn clear(&mut self) {
                match self {
                    $(Self::$name(values) => values.clear(),)*
                }
            }

            /// Puts one row of other values behind the last.
            pub(super) fn push_row(&mut self, from: &ColumnData<'_>, row: usize, width: usize) {
                match (self, from) {
                    $((Self::$name(values), ColumnData::$name(from)) => {
                        values.extend_from_slice(row_of(from, row, width));
                    })*
                    _ => unreachable!("{DTYPE_CHECKED}"),
                }
            }

            /// Replaces row `at` by one row of other values.
            pub(crate) fn set_row(&mut self, at: usize, from: &ColumnData<'_>, row: usize, width: usize) {
                match (self, from) {
                    $((Self::$name(values), ColumnData::$name(from)) => {
                        values[at * width..][..width].copy_from_slice(row_of(from, row, width));
                    })*
                    _ => unreachable!("{DTYPE_CHECKED}"),
                }
            }

            /// Puts values behind the last, from bytes whose number is a multiple of the type's.
            pub(super) fn extend_from_le_bytes(&mut self, bytes: &[u8]) {
                match self {
                    $(Self::$name(values) => {
                        values.extend(bytes.chunks_exact(<$type>::SIZE).map(<$type as Value>::read));
                    })*
                }
            }
        }
    };
}

const DTYPE_CHECKED: &str = "the types of a batch's columns are checked before its rows are placed";

columns! {
    /// Numbers of double precision.
    F64: f64,
    /// Numbers of single precision.
    F32: f32,
    /// Whole numbers of 64 bits.
    I64: i64,
    /// Whole numbers of 32 bits.
    I32: i32,
    /// Whole numbers of 16 bits.
    I16: i16,
    /// Whole numbers of 8 bits.
    I8: i8,
    /// Whole numbers of 64 bits without sign.
    U64: u64,
    /// Whole numbers of 32 bits without sign.
    U32: u32,
    /// Whole numbers of 16 bits without sign.
    U16: u16,
    /// Bytes.
    U8: u8,
    /// Yes or no.
    Bool: bool,
}

impl<'a> ColumnData<'a> {
    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All values as words of 64 bits, for digests.
    pub(crate) fn words(&self) -> Vec<u64> {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        self.to_le_bytes().chunks(8).map(word).collect()
    }

    /// The values if they are of double precision.
    pub fn as_f64(&self) -> Option<&'a [f64]> {
        match self {
            ColumnData::F64(values) => Some(values),
            _ => None,
        }
    }
}

impl Column {
    /// Whether these are the values of `n_rows` rows of a column: what is loaded may say anything.
    pub(crate) fn is_of(&self, column: &ExtraColumn, n_rows: usize) -> bool {
        self.data().dtype() == column.dtype && self.len() == n_rows * column.width
    }

    /// Number of values, all rows together.
    pub(super) fn len(&self) -> usize {
        self.data().len()
    }

    pub(super) fn bytes_in_use(&self) -> usize {
        self.len() * self.data().dtype().size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message_pack;

    #[test]
    fn every_type_keeps_its_rows_and_survives_bytes() {
        let all = [
            ColumnData::F64(&[0.5, -1.0, f64::NAN, 2.0]),
            ColumnData::F32(&[0.5, -1.0, 1e30, 2.0]),
            ColumnData::I64(&[i64::MIN, 2, 3, i64::MAX]),
            ColumnData::I32(&[i32::MIN, 2, 3, i32::MAX]),
            ColumnData::I16(&[i16::MIN, 2, 3, i16::MAX]),
            ColumnData::I8(&[i8::MIN, 2, 3, i8::MAX]),
            ColumnData::U64(&[1, 2, 3, u64::MAX]),
            ColumnData::U32(&[1, 2, 3, u32::MAX]),
            ColumnData::U16(&[1, 2, 3, u16::MAX]),
            ColumnData::U8(&[1, 2, 3, u8::MAX]),
            ColumnData::Bool(&[true, false, false, true]),
        ];
        for data in all {
            let dtype = data.dtype();
            let mut column = Column::new(dtype);
            assert!(column.try_reserve(4));
            column.push_row(&data, 1, 2);
            column.push_row(&data, 1, 2);
            column.set_row(0, &data, 0, 2);
            assert_eq!(column.data().to_le_bytes(), data.to_le_bytes(), "{dtype:?}");
            assert_eq!(column.row(1, 2).to_le_bytes(), data.to_le_bytes()[2 * dtype.size()..], "{dtype:?}");
            assert_eq!((column.len(), column.bytes_in_use()), (4, 4 * dtype.size()));
            let mut loaded = Column::new(dtype);
            loaded.extend_from_le_bytes(&data.to_le_bytes());
            assert_eq!(loaded.data().to_le_bytes(), data.to_le_bytes(), "{dtype:?}");
            loaded.clear();
            assert!(loaded.data().is_empty() && loaded.data().dtype() == dtype);
        }
    }

    #[test]
    fn a_column_without_a_type_is_of_double_precision_as_it_was_before_there_were_types() {
        #[derive(Serialize)]
        struct Before<'a> {
            name: &'a str,
            width: usize,
        }
        let bytes = rmp_serde::to_vec_named(&Before { name: "gait", width: 3 }).unwrap();
        assert_eq!(message_pack::from_slice::<ExtraColumn>(&bytes).unwrap(), ExtraColumn::new("gait", 3));
    }
}
