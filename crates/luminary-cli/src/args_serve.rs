//! The command line of the live view.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Run folders, sweeps, and folders that hold them
    #[arg(default_value = "runs", value_name = "DIR")]
    pub(crate) dirs: Vec<PathBuf>,
    /// The port; by default 8742 or, if that is taken, any free one
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// The address to listen at; one that others can reach needs a token, which is printed with the address
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// A name under which others reach this machine, beside its addresses
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Vec<String>,
    /// Also stop and resume runs, and draw elites with the command of their configuration; needs a token
    #[arg(long)]
    pub(crate) control: bool,
}
