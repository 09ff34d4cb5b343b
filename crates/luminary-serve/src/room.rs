//! Memory that answers may take while they are made and sent: whoever asks for many large ones and does not read them waits,
//! and takes no more of it.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::failure;

/// Answers that are made at the same time.
const MAX_MADE: usize = 4;
/// Bytes of all answers that are being sent: those of the largest fit.
const ROOM: usize = 256 << 20;
/// Smaller answers always have room: there are not that many connections.
const SMALL: usize = 64 << 10;

/// The room for answers.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    makers: Arc<Semaphore>,
    /// A permit for each [`SMALL`] bytes.
    places: Arc<Semaphore>,
}

/// Bytes that give their room back when the last of them has been sent.
struct Held {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Room {
    pub(crate) fn new() -> Self {
        Self { makers: Arc::new(Semaphore::new(MAX_MADE)), places: Arc::new(Semaphore::new(ROOM / SMALL)) }
    }

    /// Bytes that hold room for themselves until they are sent.
    async fn hold(&self, bytes: Bytes) -> Bytes {
        if bytes.len() <= SMALL {
            return bytes;
        }
        let n_places = bytes.len().min(ROOM).div_ceil(SMALL);
        let room = Arc::clone(&self.places).acquire_many_owned(n_places as u32).await;
        Bytes::from_owner(Held { bytes, _room: room.expect("the semaphore is never closed") })
    }
}

/// Has an answer made when it is its turn, and sent when there is room for it.
pub(crate) async fn within(State(room): State<Room>, request: Request, next: Next) -> Response {
    let turn = room.makers.acquire().await;
    let (head, body) = next.run(request).await.into_parts();
    // Answers are whole before they are sent, so nothing is copied here.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return failure(StatusCode::INTERNAL_SERVER_ERROR, "the server failed to answer; its terminal says why");
    };
    let bytes = room.hold(bytes).await;
    drop(turn);
    Response::from_parts(head, Body::from(bytes))
}
