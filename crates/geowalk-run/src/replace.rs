//! # Replacing a file
//! At every moment the path leads to the old file or to the whole new one, also if the process or the machine stops.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a file in place of the one at `path`, if there is one.
pub(crate) fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    // What a link leads to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = fs::metadata(&path).ok();
    match &old {
        // A pipe, a terminal, /dev/null: renaming would put a file in its place.
        Some(old) if !old.is_file() => {
            let mut out = BufWriter::new(File::options().write(true).open(&path)?);
            write(&mut out)?;
            return out.flush();
        }
        Some(old) if old.permissions().readonly() => {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        _ => {}
    }
    let (temporary, file) = beside(&path)?;
    let written = (|| {
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(&mut out)?;
        out.into_inner()?.sync_all()?;
        fs::rename(&temporary, &path)
    })();
    match written {
        // Makes the new name durable where directories can be synchronised; the file is whole either way.
        Ok(()) => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let _ = File::open(parent.unwrap_or(Path::new("."))).and_then(|d| d.sync_all());
            Ok(())
        }
        Err(error) => {
            // The first error is the one to tell.
            let _ = fs::remove_file(&temporary);
            Err(error)
        }
    }
}

/// Would [`replace`] be able to begin?
pub(crate) fn try_out(path: &Path) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&path) {
        Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // Opening a pipe would wait for its reader.
        Ok(old) if !old.is_file() => Ok(()),
        Ok(old) if old.permissions().readonly() => Err(io::ErrorKind::PermissionDenied.into()),
        _ => {
            let (temporary, _) = beside(&path)?;
            fs::remove_file(temporary)
        }
    }
}

/// A new file in the same directory.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{count}.tmp", std::process::id()));
        let temporary = path.with_file_name(hidden);
        match File::create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            // Left behind by a process of the same number that was stopped.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("geowalk-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = folder("failure");
        let path = folder.join("model");
        replace(&path, |out| out.write_all(b"old")).unwrap();
        let failed = replace(&path, |out| {
            out.write_all(&vec![b'x'; 1 << 20])?;
            assert_eq!(files(&folder).len(), 2, "the new file stands beside the old one");
            Err(io::Error::other("disk full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "disk full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files(&folder).len(), 1);
        assert!(replace(&folder, |out| out.write_all(b"new")).is_err(), "it is a directory");
        replace(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(replace(&folder.join("none/model"), |_| Ok(())).is_err());
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_pipes_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("links");
        let (path, link) = (folder.join("model"), folder.join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        let error = replace(&path, |out| out.write_all(b"newer")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        replace(&pipe, |out| out.write_all(b"through")).unwrap();
        assert_eq!(reader.join().unwrap(), b"through");
        assert!(!fs::metadata(&pipe).unwrap().is_file());
        fs::remove_dir_all(folder).unwrap();
    }
}
