//! The server: a socket, a thread, and limits on what connections may take.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use futures_util::future::{Either, select};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::sync::{Semaphore, oneshot};

use crate::error::ServeError;
use crate::guard::Guard;
use crate::options::Options;
use crate::patient::Patient;
use crate::routes::{self, Context};
use crate::token::Token;

/// Connections at the same time; further ones wait.
const MAX_CONNECTIONS: usize = 512;
/// Bytes that are read ahead of a connection, which is also the most that a request's head can have.
const MAX_BUFFER: usize = 32 * 1024;
/// How long the head of a request may take. It is also how long a connection without requests is kept, so that whoever
/// opens all there are and says nothing holds others up for this long only.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// How long whoever has asked may leave an answer lying before the connection ends.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause after a connection could not be accepted, usually for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Threads that read files, at most.
const MAX_READERS: usize = 4;

/// A server that listens but does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: Options,
}

/// A server that answers until this is dropped.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    /// Dropping the sender ends the server.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens at the address of the options, and makes a token if they need one and have none.
    ///
    /// # Errors
    /// An address that is taken or not one of this machine.
    pub fn bind(mut options: Options) -> Result<Self, ServeError> {
        if options.needs_token() && options.token.is_none() {
            options.token = Some(Token::random()?);
        }
        let mut refused = None;
        for address in options.addresses() {
            match TcpListener::bind(address) {
                Ok(listener) => {
                    listener.set_nonblocking(true)?;
                    let address = listener.local_addr()?;
                    return Ok(Self { listener, address, options });
                }
                Err(source) => refused = Some(ServeError::Bind { address, source }),
            }
        }
        Err(refused.expect("there is an address to try"))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a browser, with the token if one is needed.
    pub fn url(&self) -> String {
        let token = self.options.token.as_ref().map_or(String::new(), |token| format!("?token={}", token.secret()));
        format!("http://{}/{token}", self.address)
    }

    /// Starts to answer, in a thread of its own.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn spawn(self) -> Result<Running, ServeError> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(MAX_READERS).build()?;
        let (stop, stopped) = oneshot::channel();
        let address = self.address;
        let thread = std::thread::Builder::new().name("luminary-serve".into()).spawn(move || {
            let serving = Box::pin(serve(self.listener, self.address, self.options));
            runtime.block_on(async {
                if let Either::Left((Err(error), _)) = select(serving, stopped).await {
                    eprintln!("the live view has ended: {error}");
                }
            });
            // Open streams and replays end with the server.
            runtime.shutdown_background();
        })?;
        Ok(Running { address, stop: Some(stop), thread: Some(thread) })
    }
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

/// Accepts connections for ever.
async fn serve(listener: TcpListener, address: SocketAddr, options: Options) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let guard = Guard::new(address, &options);
    let router: Router = routes::router(Context::new(options), guard);
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned().await.expect("the semaphore is never closed");
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let _place = place;
            let mut connection = http1::Builder::new();
            connection.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(MAX_BUFFER);
            // A client that breaks off or breaks the rules ends its own connection.
            let _ = connection.serve_connection(TokioIo::new(Patient::new(stream, WRITE_TIMEOUT)), service).await;
        });
    }
}
