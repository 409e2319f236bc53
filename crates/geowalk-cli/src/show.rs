//! `geowalk show`: what is in a model.

use std::io::Write;

use geowalk_run::error::RunError;
use geowalk_run::learned::Form;
use geowalk_run::model::Model;
use geowalk_run::sql::{Dialect, Target};
use geowalk_run::team;

use crate::Failure;
use crate::args::{Format, Show};
use crate::paths::Files;

/// Prints a model.
pub(crate) fn run(args: &Show, out: &mut dyn Write) -> Result<(), Failure> {
    Files::none().input("MODEL", Some(&args.model)).exported(args.export.as_deref()).check()?;
    let mut model = Model::load(&args.model).map_err(RunError::from)?;
    if let Some(k) = args.member {
        model = team::member(&model, k.checked_sub(1).unwrap_or(usize::MAX))?;
        if let Some(path) = &args.export {
            model.save(path).map_err(RunError::from)?;
        }
    }
    if args.format != Some(Format::Sql) && (args.table.is_some() || args.dialect.is_some()) {
        let flag = if args.table.is_some() { "--table" } else { "--dialect" };
        return Err(Failure::Use(format!("{flag} goes with --format sql")));
    }
    let learned = model.learned()?;
    let form = args.format.map(|format| match format {
        Format::Text => Form::Text,
        Format::Json => Form::Json,
        Format::Sql => Form::Sql,
        Format::Dot => Form::Dot,
    });
    if let Some(form) = form.filter(|form| learned.forms().contains(form)) {
        write!(out, "{}", learned.write(form, &target(args)?, None)?)?;
    } else if args.json || form == Some(Form::Json) {
        writeln!(out, "{}", learned.json(&model, args.top)?)?;
    } else if let None | Some(Form::Text) = form {
        for section in learned.describe(&model, args.top)? {
            write!(out, "{section}")?;
        }
    } else if let Some(form) = form {
        learned.write(form, &target(args)?, None)?;
    }
    Ok(())
}

/// What a query is written for.
fn target(args: &Show) -> Result<Target, Failure> {
    let usual = Target::default();
    let table = args.table.clone().unwrap_or(usual.table);
    if table.split('.').any(str::is_empty) {
        return Err(Failure::Use(format!(
            "--table '{table}': a name is empty; use TABLE or SCHEMA.TABLE"
        )));
    }
    let dialect = args.dialect.as_deref().map_or(Ok(usual.dialect), Dialect::parse)?;
    Ok(Target { dialect, table })
}
