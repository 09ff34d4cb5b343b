//! What people and programs say about tickets, one JSON object a line.

use luminary::scheduler::TicketId;
use serde_json::{Map, Value};
use thiserror::Error;

/// One line of results.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// `{"id": 3, "objective": 1.5, "measures": [0.2, 0.7]}`, for a gradient ticket with `"jacobian": [[...], ...]`, and
    /// with the extras of the configuration as `"extras": {"energy": 3.5}`.
    Told {
        /// The ticket.
        id: TicketId,
        /// Its objective, with the user's sign.
        objective: f64,
        /// Its measures.
        measures: Vec<f64>,
        /// The gradients of objective and measures, one after the other.
        jacobian: Option<Vec<f64>>,
        /// Extra values by name.
        extras: Vec<(String, Vec<f64>)>,
    },
    /// `{"id": 3, "failed": "the arm hit the table"}`: this solution has no value.
    Failed {
        /// The ticket.
        id: TicketId,
        /// Why.
        reason: String,
    },
    /// `{"id": 3, "lost": true}`: nobody will evaluate it; it is issued again.
    Lost {
        /// The ticket.
        id: TicketId,
    },
    /// `{"solution": [...], "objective": 1.5, "measures": [0.2, 0.7]}`: a solution that nobody asked for.
    Injected {
        /// The solution.
        solution: Vec<f64>,
        /// Its objective, with the user's sign.
        objective: f64,
        /// Its measures.
        measures: Vec<f64>,
        /// Extra values by name.
        extras: Vec<(String, Vec<f64>)>,
    },
}

/// A line that is no message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected {expected}, found {found}")]
pub struct MessageError {
    expected: String,
    found: String,
}

impl MessageError {
    pub(super) fn new(expected: &str, found: &str) -> Self {
        Self { expected: expected.into(), found: found.into() }
    }
}

impl Message {
    /// Reads a line.
    ///
    /// # Errors
    /// Anything but one of the four kinds of messages, with what is wrong about it.
    pub fn read(line: &str) -> Result<Self, MessageError> {
        let value =
            serde_json::from_str(line).map_err(|error| MessageError::new("a JSON object", &error.to_string()))?;
        let Value::Object(mut fields) = value else {
            return Err(MessageError::new("a JSON object", kind_of(&value)));
        };
        let message = match fields.remove("id") {
            Some(id) => Self::of_ticket(ticket(&id)?, &mut fields)?,
            None => Self::injected(&mut fields)?,
        };
        match fields.keys().next() {
            Some(key) => Err(MessageError::new("no further field", &format!("{key:?}"))),
            None => Ok(message),
        }
    }

    fn of_ticket(id: TicketId, fields: &mut Map<String, Value>) -> Result<Self, MessageError> {
        if let Some(reason) = fields.remove("failed") {
            let reason = match reason {
                Value::String(reason) if !reason.trim().is_empty() => reason,
                Value::Bool(true) => "failed".to_owned(),
                other => return Err(MessageError::new("a reason in \"failed\"", &other.to_string())),
            };
            return Ok(Self::Failed { id, reason });
        }
        if let Some(lost) = fields.remove("lost") {
            return match lost {
                Value::Bool(true) => Ok(Self::Lost { id }),
                other => Err(MessageError::new("true in \"lost\"", &other.to_string())),
            };
        }
        let jacobian = fields.remove("jacobian").map(|rows| matrix("jacobian", &rows)).transpose()?;
        let (objective, measures, extras) = values(fields)?;
        Ok(Self::Told { id, objective, measures, jacobian, extras })
    }

    fn injected(fields: &mut Map<String, Value>) -> Result<Self, MessageError> {
        let Some(solution) = fields.remove("solution") else {
            let found = fields.keys().map(|key| format!("{key:?}")).collect::<Vec<_>>().join(", ");
            let expected = "\"id\" of a ticket, or \"solution\" of one that nobody asked for";
            return Err(MessageError::new(expected, if found.is_empty() { "neither" } else { &found }));
        };
        let solution = numbers("solution", &solution)?;
        let (objective, measures, extras) = values(fields)?;
        Ok(Self::Injected { solution, objective, measures, extras })
    }
}

type Values = (f64, Vec<f64>, Vec<(String, Vec<f64>)>);

fn values(fields: &mut Map<String, Value>) -> Result<Values, MessageError> {
    let mut take = |name: &str| {
        let missing = || MessageError::new(&format!("a field {name:?}"), "none");
        fields.remove(name).ok_or_else(missing)
    };
    let objective = number("objective", &take("objective")?)?;
    let measures = numbers("measures", &take("measures")?)?;
    let extras = match fields.remove("extras") {
        None => Vec::new(),
        Some(Value::Object(extras)) => {
            let column = |(name, value): (String, Value)| {
                let values = if value.is_array() { numbers(&name, &value) } else { Ok(vec![number(&name, &value)?]) };
                Ok((name, values?))
            };
            extras.into_iter().map(column).collect::<Result<_, MessageError>>()?
        }
        Some(other) => return Err(MessageError::new("names and numbers in \"extras\"", kind_of(&other))),
    };
    Ok((objective, measures, extras))
}

fn ticket(id: &Value) -> Result<TicketId, MessageError> {
    let number = id.as_u64().ok_or_else(|| MessageError::new("the number of a ticket in \"id\"", &id.to_string()))?;
    Ok(TicketId::new(number))
}

/// A number. JSON has no NaN; `null` stands for it, as most writers of JSON have it.
fn number(name: &str, value: &Value) -> Result<f64, MessageError> {
    match value {
        Value::Null => Ok(f64::NAN),
        _ => value.as_f64().ok_or_else(|| MessageError::new(&format!("a number in {name:?}"), kind_of(value))),
    }
}

fn numbers(name: &str, value: &Value) -> Result<Vec<f64>, MessageError> {
    let Value::Array(values) = value else {
        return Err(MessageError::new(&format!("a list of numbers in {name:?}"), kind_of(value)));
    };
    values.iter().map(|value| number(name, value)).collect()
}

/// Rows of numbers, one after the other; all must be finite, because a journal can hold nothing else.
fn matrix(name: &str, value: &Value) -> Result<Vec<f64>, MessageError> {
    let Value::Array(rows) = value else {
        return Err(MessageError::new(&format!("rows of numbers in {name:?}"), kind_of(value)));
    };
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| numbers(name, row)).collect::<Result<_, _>>()?;
    match rows.iter().flatten().all(|entry| entry.is_finite()) {
        true => Ok(rows.concat()),
        false => Err(MessageError::new(&format!("finite numbers in {name:?}"), "null")),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_kinds_are_read() {
        let id = TicketId::new(3);
        let told = Message::read(r#"{"id":3,"objective":-1,"measures":[0.5,2],"extras":{"energy":4,"gait":[1,2]}}"#);
        let extras = vec![("energy".to_owned(), vec![4.0]), ("gait".to_owned(), vec![1.0, 2.0])];
        let expected = Message::Told { id, objective: -1.0, measures: vec![0.5, 2.0], jacobian: None, extras };
        assert_eq!(told, Ok(expected));
        let failed = Message::read(r#"{"id":3,"failed":"no fuel"}"#);
        assert_eq!(failed, Ok(Message::Failed { id, reason: "no fuel".into() }));
        assert_eq!(Message::read(r#"{"id":3,"lost":true}"#), Ok(Message::Lost { id }));
        let injected = Message::read(r#"{"solution":[1,2],"objective":3,"measures":[4]}"#);
        let (solution, measures) = (vec![1.0, 2.0], vec![4.0]);
        assert_eq!(injected, Ok(Message::Injected { solution, objective: 3.0, measures, extras: Vec::new() }));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, expected) in [
            ("", "expected a JSON object, found EOF"),
            ("[1]", "expected a JSON object, found a list"),
            (r#"{"objective":1}"#, "expected \"id\" of a ticket, or \"solution\" of one that nobody asked for"),
            (r#"{"id":-1,"lost":true}"#, "expected the number of a ticket in \"id\", found -1"),
            (r#"{"id":1,"objective":"1","measures":[]}"#, "expected a number in \"objective\", found a text"),
            (r#"{"id":1,"objective":1}"#, "expected a field \"measures\", found none"),
            (r#"{"id":1,"objective":1,"measures":[1],"time":2}"#, "expected no further field, found \"time\""),
            (r#"{"id":1,"failed":""}"#, "expected a reason in \"failed\", found \"\""),
            (r#"{"id":1,"objective":1,"measures":[1],"jacobian":[[null]]}"#, "expected finite numbers in \"jacobian\""),
        ] {
            let error = Message::read(line).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{line}: {error}");
        }
    }
}
