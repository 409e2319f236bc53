1 2.5 'first |a x:0.5 y |b:2 x:3
-1 |a x
|a y
0.5 | 5:0.5 17 :2 |f word:2
