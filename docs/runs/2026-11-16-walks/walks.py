"""CPU seconds of walks on the same LIBSVM file, certificate on and off, four turns through all of them.

    python ../2026-11-16-speed/run.py make DIR --part 10
    python walks.py GEOWALK DIR/a.svm walks.csv
"""
import subprocess, resource, sys, csv
g, path, out = sys.argv[1:4]
W = [("gd","0.5"),("free",None),("adagrad",None),("mirror:entropy","0.1"),("eg","0.1"),("neg","0.1"),("explicit:simplex","0.1"),("implicit:entropy","0.1"),("implicit:simplex-entropy","0.1"),("implicit:simplex","0.1"),("implicit:orthant","0.1"),("implicit:p-norm","0.1"),("implicit:euclidean","0.5")]
def cpu(args):
    b = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    a = resource.getrusage(resource.RUSAGE_CHILDREN)
    return a.ru_utime + a.ru_stime - b.ru_utime - b.ru_stime
rows=[]; best={}
for turn in range(4):
    for w,r in W:
        for cert in ("on","off"):
            t=cpu([g,"train",path,"--walk",w,"--certificate",cert,"--model","walks.gw","--progress","none"]+(["--rate",r] if r else []))
            rows.append([w,cert,turn,t]); best[w,cert]=min(best.get((w,cert),9e9),t)
for w,_ in W: print(f"{w:28s} {best[w,'on']:.3f} {best[w,'off']:.3f}  x gd {best[w,'on']/best['gd','on']:.2f}  on/off {best[w,'on']/best[w,'off']:.3f}")
csv.writer(open(out,'w',newline='')).writerows([["walk","certificate","turn","cpu_seconds"],*rows])
