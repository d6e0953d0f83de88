/**
 * One form for all spellings of a text and of a word (recall.md R43, steps 1, 4 and 5): `normalized` comes before
 * a text is cut up, `partsFromName` takes a name apart and folds each part. Pure, and linear in its input.
 */

const partMaxCodePoints = 128;

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/**
 * NFKC without characters that have no shape. Format characters are not all of those: a variation selector
 * would make another word of the same emoji, or cut a Han run in two.
 */
export function normalized(text: string): string {
  if (isAscii(text)) return text;
  const composed = text.normalize("NFKC");
  const shaped = composed.replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu, "");
  // What stood apart may now compose; a text and a query would differ if only one were normalized twice.
  return shaped === composed ? composed : shaped.normalize("NFKC");
}

const upper = /^[\p{Lu}\p{Lt}]/u;
const lower = /^\p{Ll}/u;
const lowerOrNumber = /^[\p{Ll}\p{N}]/u;

/** The camel humps of a run of word characters: `userIDs` is user and IDs, `HTTPServer` is HTTP and Server. */
function humpsFromRun(run: string): readonly string[] {
  // Most words have no hump, which is seen at a glance.
  if (/^.[^\p{Lu}\p{Lt}]*$/su.test(run)) return [run];
  // A mark belongs to the letter before it and has no case of its own.
  const letters = run.match(/\P{M}\p{M}*|\p{M}+/gu) ?? [];
  const humps: string[] = [];
  let hump = "";
  for (const [index, letter] of letters.entries()) {
    if (index > 0 && upper.test(letter)) {
      const before = letters[index - 1] ?? "";
      const after = letters[index + 1] ?? "";
      const next = letters[index + 2];
      // The plural of capitals: the s of IDs ends its part and begins no word.
      const isPlural = after === "s" && (next === undefined || upper.test(next));
      const beginsWord = upper.test(before) && lower.test(after) && !isPlural;
      if (lowerOrNumber.test(before) || beginsWord) {
        humps.push(hump);
        hump = "";
      }
    }
    hump += letter;
  }
  humps.push(hump);
  return humps;
}

const tatweel = /\u0640/g;
const markedBase =
  /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}])\p{M}+/gu;
const respelled: ReadonlyMap<string, string> = new Map([
  ["ß", "ss"],
  ["ı", "i"],
  ["ø", "o"],
  ["đ", "d"],
  ["ð", "d"],
  ["ł", "l"],
  ["ħ", "h"],
  ["ŧ", "t"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["þ", "th"],
  ["ς", "σ"],
]);

function cutToCodePoints(text: string, most: number): string {
  if (text.length <= most) return text;
  return [...text].slice(0, most).join("");
}

/** A part in lower case, without the marks that people leave out when they type; `""` when nothing is left. */
function folded(part: string): string {
  const small = part.toLowerCase();
  if (isAscii(small)) return cutToCodePoints(small, partMaxCodePoints);
  const plain = small
    .normalize("NFD")
    .replace(tatweel, "")
    .replace(markedBase, "$1")
    .replace(/[ßıøđðłħŧæœþς]/g, (letter) => respelled.get(letter) ?? letter)
    .normalize("NFC");
  return cutToCodePoints(plain, partMaxCodePoints);
}

/** The folded parts of a name: it splits at joiners and at camel humps. */
export function partsFromName(name: string): readonly string[] {
  return name
    .split(/[_\-\u2010]/)
    .flatMap(humpsFromRun)
    .map(folded)
    .filter((part) => part !== "");
}
