//! The program `geowalk`; what it does is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(geowalk_cli::run(std::env::args_os()))
}
