//! Values out of MessagePack, as checkpoints hold them: structures with the names of their fields.
//!
//! rmp-serde, which writes them, can read them as well, but is ready for any kind of value wherever it reads one. The
//! compiler makes code for all of that for each type, which was half of the engine's machine code and most of the time that
//! building it took. This reader knows from the type what must come.

use std::fmt::Display;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};

/// Lists and structures within each other: more than any state has, and few enough for the stack.
const MAX_DEPTH: usize = 256;

/// Bytes that are not the MessagePack of the value that they should be.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct DecodeError(String);

impl de::Error for DecodeError {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Reads the value that the bytes begin with.
///
/// # Errors
/// Bytes that are no such value.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, DecodeError> {
    T::deserialize(&mut Reader { rest: bytes, depth: 0 })
}

/// What a value begins with: itself if it is small, or how many bytes, items or entries follow.
#[derive(Clone, Copy)]
enum Head {
    Nil,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Single(f32),
    Double(f64),
    Text(usize),
    Bytes(usize),
    List(usize),
    Map(usize),
}

impl Head {
    fn unexpected(self, expected: &str) -> DecodeError {
        let found = match self {
            Self::Nil => Unexpected::Unit,
            Self::Bool(value) => Unexpected::Bool(value),
            Self::Unsigned(value) => Unexpected::Unsigned(value),
            Self::Signed(value) => Unexpected::Signed(value),
            Self::Single(value) => Unexpected::Float(value.into()),
            Self::Double(value) => Unexpected::Float(value),
            Self::Text(_) => Unexpected::Other("a text"),
            Self::Bytes(_) => Unexpected::Other("bytes"),
            Self::List(_) => Unexpected::Seq,
            Self::Map(_) => Unexpected::Map,
        };
        DecodeError::invalid_type(found, &expected)
    }
}

struct Reader<'de> {
    rest: &'de [u8],
    depth: usize,
}

impl<'de> Reader<'de> {
    fn take(&mut self, n_bytes: usize) -> Result<&'de [u8], DecodeError> {
        let too_few = || DecodeError(format!("expected {n_bytes} more bytes, found {}", self.rest.len()));
        let (taken, rest) = self.rest.split_at_checked(n_bytes).ok_or_else(too_few)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        Ok(self.take(N)?.try_into().expect("as many bytes as were taken"))
    }

    /// A number of 1, 2, 4 or 8 bytes, the highest first.
    fn unsigned(&mut self, n_bytes: usize) -> Result<u64, DecodeError> {
        Ok(self.take(n_bytes)?.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn len(&mut self, n_bytes: usize) -> Result<usize, DecodeError> {
        // Longer than an address reaches is longer than what follows.
        Ok(usize::try_from(self.unsigned(n_bytes)?).unwrap_or(usize::MAX))
    }

    fn head(&mut self) -> Result<Head, DecodeError> {
        let [marker] = self.array()?;
        Ok(match marker {
            0x00..=0x7f => Head::Unsigned(marker.into()),
            0x80..=0x8f => Head::Map((marker & 0x0f).into()),
            0x90..=0x9f => Head::List((marker & 0x0f).into()),
            0xa0..=0xbf => Head::Text((marker & 0x1f).into()),
            0xc0 => Head::Nil,
            0xc2 => Head::Bool(false),
            0xc3 => Head::Bool(true),
            0xc4..=0xc6 => Head::Bytes(self.len(1 << (marker - 0xc4))?),
            0xca => Head::Single(f32::from_be_bytes(self.array()?)),
            0xcb => Head::Double(f64::from_be_bytes(self.array()?)),
            0xcc..=0xcf => Head::Unsigned(self.unsigned(1 << (marker - 0xcc))?),
            0xd0 => Head::Signed(i8::from_be_bytes(self.array()?).into()),
            0xd1 => Head::Signed(i16::from_be_bytes(self.array()?).into()),
            0xd2 => Head::Signed(i32::from_be_bytes(self.array()?).into()),
            0xd3 => Head::Signed(i64::from_be_bytes(self.array()?)),
            0xd9..=0xdb => Head::Text(self.len(1 << (marker - 0xd9))?),
            0xdc | 0xdd => Head::List(self.len(2 << (marker - 0xdc))?),
            0xde | 0xdf => Head::Map(self.len(2 << (marker - 0xde))?),
            0xe0..=0xff => Head::Signed(i8::from_be_bytes([marker]).into()),
            0xc1 | 0xc7..=0xc9 | 0xd4..=0xd8 => {
                return Err(DecodeError(format!("expected a value, found the byte {marker:#04x}")));
            }
        })
    }

    fn text_of(&mut self, n_bytes: usize) -> Result<&'de str, DecodeError> {
        str::from_utf8(self.take(n_bytes)?).map_err(DecodeError::custom)
    }

    fn text(&mut self) -> Result<&'de str, DecodeError> {
        match self.head()? {
            Head::Text(n_bytes) => self.text_of(n_bytes),
            other => Err(other.unexpected("a text")),
        }
    }

    fn list(&mut self) -> Result<usize, DecodeError> {
        match self.head()? {
            Head::List(n_items) => Ok(n_items),
            other => Err(other.unexpected("a list")),
        }
    }

    fn map(&mut self) -> Result<usize, DecodeError> {
        match self.head()? {
            Head::Map(n_entries) => Ok(n_entries),
            other => Err(other.unexpected("a map")),
        }
    }

    fn descend(&mut self) -> Result<(), DecodeError> {
        self.depth += 1;
        match self.depth {
            ..=MAX_DEPTH => Ok(()),
            _ => Err(DecodeError(format!("expected at most {MAX_DEPTH} values within each other, found more"))),
        }
    }

    fn visit_items<V: Visitor<'de>>(&mut self, n_items: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.descend()?;
        let mut items = Items { reader: self, left: n_items };
        let value = visitor.visit_seq(&mut items)?;
        items.end()?;
        Ok(value)
    }

    fn visit_entries<V: Visitor<'de>>(&mut self, n_entries: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.descend()?;
        let mut entries = Items { reader: self, left: n_entries };
        let value = visitor.visit_map(&mut entries)?;
        entries.end()?;
        Ok(value)
    }
}

/// Types that are told whatever number is there: they say themselves what does not fit.
macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            match self.head()? {
                Head::Unsigned(value) => visitor.visit_u64(value),
                Head::Signed(value) => visitor.visit_i64(value),
                Head::Single(value) => visitor.visit_f32(value),
                Head::Double(value) => visitor.visit_f64(value),
                other => Err(other.unexpected("a number")),
            }
        }
    )*};
}

macro_rules! texts {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.visit_borrowed_str(self.text()?)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for &mut Reader<'de> {
    type Error = DecodeError;

    fn is_human_readable(&self) -> bool {
        false
    }

    numbers! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
    deserialize_u64 deserialize_f32 deserialize_f64 }

    texts! { deserialize_str deserialize_string deserialize_char deserialize_identifier }

    /// For values whose type does not say what they are, such as entries that belong to a part of a structure.
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.head()? {
            Head::Nil => visitor.visit_unit(),
            Head::Bool(value) => visitor.visit_bool(value),
            Head::Unsigned(value) => visitor.visit_u64(value),
            Head::Signed(value) => visitor.visit_i64(value),
            Head::Single(value) => visitor.visit_f32(value),
            Head::Double(value) => visitor.visit_f64(value),
            Head::Text(n_bytes) => visitor.visit_borrowed_str(self.text_of(n_bytes)?),
            Head::Bytes(n_bytes) => visitor.visit_borrowed_bytes(self.take(n_bytes)?),
            Head::List(n_items) => self.visit_items(n_items, visitor),
            Head::Map(n_entries) => self.visit_entries(n_entries, visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.head()? {
            Head::Bool(value) => visitor.visit_bool(value),
            other => Err(other.unexpected("true or false")),
        }
    }

    /// Bytes, or a list of them.
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.head()? {
            Head::Bytes(n_bytes) => visitor.visit_borrowed_bytes(self.take(n_bytes)?),
            Head::List(n_items) => self.visit_items(n_items, visitor),
            other => Err(other.unexpected("bytes")),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.rest.first() == Some(&0xc0) {
            self.take(1)?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.head()? {
            Head::Nil | Head::List(0) => visitor.visit_unit(),
            other => Err(other.unexpected("nothing")),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let n_items = self.list()?;
        self.visit_items(n_items, visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let n_entries = self.map()?;
        self.visit_entries(n_entries, visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.head()? {
            Head::Text(n_bytes) => {
                let name = self.text_of(n_bytes)?;
                visitor.visit_enum(BorrowedStrDeserializer::new(name))
            }
            Head::Map(1) => {
                self.descend()?;
                let value = visitor.visit_enum(&mut *self)?;
                self.depth -= 1;
                Ok(value)
            }
            other => Err(other.unexpected("a choice")),
        }
    }
}

/// The items of a list, or the entries of a map.
struct Items<'a, 'de> {
    reader: &'a mut Reader<'de>,
    left: usize,
}

impl Items<'_, '_> {
    fn hint(&self) -> usize {
        // Each takes a byte at least.
        self.left.min(self.reader.rest.len())
    }

    fn end(&mut self) -> Result<(), DecodeError> {
        self.reader.depth -= 1;
        match self.left {
            0 => Ok(()),
            more => Err(DecodeError(format!("expected the end of a list, found {more} more items"))),
        }
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DecodeError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint())
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, DecodeError> {
        seed.deserialize(&mut *self.reader)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.hint())
    }
}

/// A choice with something in it: its name, and then that.
impl<'de> EnumAccess<'de> for &mut Reader<'de> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), DecodeError> {
        let variant = seed.deserialize(&mut *self)?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for &mut Reader<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        <()>::deserialize(self)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, DecodeError> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        de::Deserializer::deserialize_seq(self, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, DecodeError> {
        de::Deserializer::deserialize_map(self, visitor)
    }
}

#[cfg(test)]
mod tests;
