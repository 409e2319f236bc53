//! Colours and the one style sheet. Pictures name their parts by class; a page gives them colours through variables that follow the reader's theme, a stand-alone
//! picture gives them fixed middle tones, legible on white and on black, because it cannot know what it is placed on.

use std::fmt::Write;

/// How many colours series go through before they begin again, dashed.
pub(crate) const SERIES: usize = 6;

/// (name of the variable, light, dark, middle). Contrast with the background: text at least 4.5, lines at least 3; the middle tones at least 3 with both.
const COLOURS: [(&str, &str, &str, &str); 13] = [
    ("paper", "#ffffff", "#14171a", "none"),
    ("ink", "#1b1f23", "#e6e8ea", "#767b80"),
    ("muted", "#5a6169", "#a2a9b0", "#767b80"),
    ("rule", "#d9dde1", "#343a40", "#8a8f944d"),
    ("wash", "#f4f5f7", "#1d2125", "#8a8f941a"),
    ("c0", "#0b5fb0", "#6cb2f5", "#2f83d3"),
    ("c1", "#b4510a", "#f0a05a", "#cf6a1f"),
    ("c2", "#0a7a4b", "#54c794", "#1e9464"),
    ("c3", "#9c2f83", "#e58fd0", "#bd54a5"),
    ("c4", "#6a5acd", "#b0a6f7", "#8577dc"),
    ("c5", "#7a6a00", "#d2be4a", "#948316"),
    ("good", "#0a7a4b", "#54c794", "#1e9464"),
    ("bad", "#b3261e", "#ff8a80", "#d9483f"),
];

/// What pictures look like, their colours given by `colour`.
fn picture_rules(scope: &str, colour: impl Fn(&str) -> String) -> String {
    let mut css = String::new();
    let mut rule = |what: &str, how: String| {
        let _ = writeln!(css, "{scope}{what}{{{how}}}");
    };
    rule(
        "text",
        format!(
            "font:13px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:{}",
            colour("ink")
        ),
    );
    rule(".small", format!("font-size:12px;fill:{}", colour("muted")));
    rule(".grid", format!("fill:none;stroke:{};stroke-width:1", colour("rule")));
    rule(".axis", format!("fill:none;stroke:{};stroke-width:1", colour("muted")));
    rule(".wash", format!("fill:{}", colour("wash")));
    rule(".line", "fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round".to_owned());
    rule(".dash", "stroke-dasharray:6 4".to_owned());
    rule(".far", "stroke-dasharray:2 4;stroke-width:1.5".to_owned());
    rule(".band", "fill-opacity:.16;stroke:none".to_owned());
    rule(".bar", "fill-opacity:.75;stroke:none".to_owned());
    rule(".hint", "fill:transparent;stroke:none".to_owned());
    rule(".box", format!("fill:{};stroke:{}", colour("wash"), colour("rule")));
    for i in 0..SERIES {
        let c = colour(&format!("c{i}"));
        rule(&format!(".line.s{i}"), format!("stroke:{c}"));
        rule(&format!(".fill.s{i}"), format!("fill:{c}"));
        rule(&format!(".ring.s{i}"), format!("fill:none;stroke:{c};stroke-width:1.5"));
    }
    css
}

/// The style inside a stand-alone picture.
pub(crate) fn alone() -> String {
    picture_rules("", |name| {
        COLOURS.iter().find(|c| c.0 == name).map_or("currentColor", |c| c.3).to_owned()
    })
}

/// The style sheet of a page.
pub fn page() -> String {
    let mut css = String::from(":root{color-scheme:light dark;");
    for (name, light, ..) in COLOURS {
        let _ = write!(css, "--{name}:{light};");
    }
    css.push_str("}\n@media (prefers-color-scheme:dark){:root{");
    for (name, _, dark, _) in COLOURS {
        let _ = write!(css, "--{name}:{dark};");
    }
    css.push_str("}}\n");
    css.push_str(LAYOUT);
    css.push_str(&picture_rules("svg ", |name| format!("var(--{name})")));
    css
}

/// Everything of a page that is not a picture.
const LAYOUT: &str = "\
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:70rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;overflow-wrap:break-word}
h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0 1rem}
h2{font-size:1.25rem;line-height:1.3;margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--rule)}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
p{max-width:44rem;margin:.5rem 0}
a{color:var(--c0)}
code,pre{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{background:var(--wash);padding:.7rem;overflow-x:auto;border-radius:4px}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.25rem 1rem;margin:.8rem 0}
dt{color:var(--muted)}
dd{margin:0;min-width:0}
@media (max-width:34rem){th,td{padding:.25rem .4rem}th.n{white-space:normal}.stack,.stack tbody,.stack tr,.stack td{display:block;text-align:left}.stack thead{display:none}.stack tr{padding:.4rem 0;border-bottom:1px solid var(--rule)}.stack td{border:0;padding:0;white-space:normal}.stack td[data-label]{display:inline-block;margin-right:.9rem}.stack td[data-label]::before{content:attr(data-label) ' ';color:var(--muted);font-weight:400}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .5rem}}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem;margin:1rem 0}
figure{margin:0;max-width:33rem;min-width:0}
figcaption{color:var(--muted);font-size:.9rem}
svg{display:block;width:100%;height:auto}
.wide{grid-column:1/-1;max-width:none}
.scroll{overflow-x:auto;margin:.8rem 0;max-width:100%;background:linear-gradient(90deg,var(--paper) 30%,transparent) 0 0/3rem 100%,linear-gradient(270deg,var(--paper) 30%,transparent) 100% 0/3rem 100%,linear-gradient(90deg,var(--rule),transparent) 0 0/.8rem 100%,linear-gradient(270deg,var(--rule),transparent) 100% 0/.8rem 100%;background-repeat:no-repeat;background-attachment:local,local,scroll,scroll}
.lead{font-size:1.2rem;line-height:1.45;max-width:44rem;margin:.4rem 0 1rem}
.under{color:var(--muted);margin:-.6rem 0 .8rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;margin:1rem 0;padding:0;list-style:none}
.tiles li{background:var(--wash);border-radius:6px;padding:.6rem .8rem;min-width:0}
.tiles b{display:block;font-size:1.45rem;line-height:1.25;font-variant-numeric:tabular-nums}
.tiles span{color:var(--muted);font-size:.9rem}
details{margin:2.2rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--rule)}
summary{cursor:pointer}
summary h2{display:inline;border:0;margin:0;padding:0}
table{border-collapse:collapse;font-size:.92rem}
caption{text-align:left;color:var(--muted);padding-bottom:.3rem}
caption span{display:inline-block;position:sticky;left:0;max-width:min(44rem,calc(100vw - 2rem))}
th,td{padding:.25rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
th{font-weight:600;border-bottom-color:var(--muted)}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.good{color:var(--good);font-weight:600;white-space:nowrap}
.bad{color:var(--bad);font-weight:600;white-space:nowrap}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.4rem 0 1rem;list-style:none;font-size:.92rem}
@media print{body{max-width:none}.scroll{overflow:visible}nav{display:none}figure,table,.tiles{break-inside:avoid}h2{break-after:avoid}}
";

#[cfg(test)]
mod tests {
    use super::*;
    use geowalk::Real;

    /// Relative luminance of #rrggbb, as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |i: usize| {
            let c = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { Real::powf((c + 0.055) / 1.055, 2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    #[test]
    fn everything_drawn_stands_out_in_each_theme() {
        let (_, light, dark, _) = COLOURS[0];
        for (name, on_light, on_dark, middle) in COLOURS {
            if matches!(name, "paper" | "rule" | "wash") {
                continue;
            }
            assert!(
                contrast(on_light, light) >= 4.5,
                "{name} on light: {}",
                contrast(on_light, light)
            );
            assert!(contrast(on_dark, dark) >= 4.5, "{name} on dark: {}", contrast(on_dark, dark));
            for ground in [light, dark] {
                assert!(
                    contrast(middle, ground) >= 3.0,
                    "{name} alone: {}",
                    contrast(middle, ground)
                );
            }
        }
    }
}
