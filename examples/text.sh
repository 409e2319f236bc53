#!/usr/bin/env bash
# Two kinds of messages, as bags of words: train, continue with more, look inside, predict.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Words come from two lists that overlap; the second file has words that the first has not.
messages() {
    awk -v first="$1" -v count="$2" -v extra="$3" "$random"'
    BEGIN {
        seed(first)
        shop = split("offer price free win cash prize click order cheap deal now " extra, sell, " ")
        talk = split("meeting lunch report draft home weekend thanks review agenda call now " extra, tell, " ")
        common = split("the a to and you we for on at today please this", plain, " ")
        for (t = 0; t < count; t++) {
            label = below(2)
            line = (label ? "1" : "-1") " |word"
            for (k = 0; k < 8; k++) {
                if (below(3) < 2) word = plain[1 + below(common)]
                else if (label) word = sell[1 + below(shop)]
                else word = tell[1 + below(talk)]
                line = line " " word
            }
            print line
        }
    }'
}
messages 1 2000 "" >"$work/first.vw"
messages 2 500 "voucher crypto" >"$work/more.vw"
printf '|word free prize click now\n|word thanks for the draft report\n' >"$work/new.vw"

"$GEOWALK" train "$work/first.vw" --holdout 5 --progress none --model "$work/model"
echo; echo "== 500 more, with words that are new"
"$GEOWALK" train "$work/more.vw" --resume "$work/model" --model "$work/model" --progress none
echo; echo "== the words that tell most"
"$GEOWALK" show "$work/model" --top 12
echo; echo "== two messages"
"$GEOWALK" predict "$work/model" "$work/new.vw" --proba
