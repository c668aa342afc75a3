// QR codes (ISO/IEC 18004) of short texts: bytes, error correction level M,
// versions 1 to 16.
// Choice: always mask 0. Readers take any; choosing the best is for codes that
// are printed small or get dirty, and these are on a screen.

const checkBytes = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28];
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10];

const checksOf = (version: number) => checkBytes[version - 1] as number;
const blocksOf = (version: number) => blockCounts[version - 1] as number;

/** The code of a text, as rows of dark and light. */
export function qrModules(text: string): boolean[][] {
  const bytes = new TextEncoder().encode(text);
  let version = 1;
  while (bytes.length > capacity(version)) {
    if (++version > checkBytes.length) throw new Error("The text is too long for a QR code.");
  }
  return draw(version, withChecks(version, dataWords(version, bytes)));
}

/** How many bytes of eight places a version has, checks included. */
function words(version: number): number {
  let places = (16 * version + 128) * version + 64;
  if (version >= 2) {
    const marks = Math.floor(version / 7) + 2;
    places -= (25 * marks - 10) * marks - 55;
    if (version >= 7) places -= 36;
  }
  return Math.floor(places / 8);
}

const dataLength = (version: number) => words(version) - checksOf(version) * blocksOf(version);
const lengthBits = (version: number) => (version < 10 ? 8 : 16);
const capacity = (version: number) => Math.floor((dataLength(version) * 8 - 4 - lengthBits(version)) / 8);

function dataWords(version: number, bytes: Uint8Array): number[] {
  const bits: number[] = [];
  const put = (value: number, n: number) => {
    for (let i = n - 1; i >= 0; i--) bits.push((value >>> i) & 1);
  };
  put(4, 4); // bytes
  put(bytes.length, lengthBits(version));
  for (const b of bytes) put(b, 8);
  const room = dataLength(version) * 8;
  put(0, Math.min(4, room - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < room; pad ^= 0xec ^ 0x11) put(pad, 8);
  return Array.from({ length: room / 8 }, (_, i) => bits.slice(i * 8, i * 8 + 8).reduce((n, b) => (n << 1) | b, 0));
}

/** Multiplies in the field of 256 that the checks are made in. */
function times(a: number, b: number): number {
  let z = 0;
  for (let i = 7; i >= 0; i--) z = (z << 1) ^ ((z >>> 7) * 0x11d) ^ (((b >>> i) & 1) * a);
  return z;
}

function divisor(degree: number): number[] {
  const out = [...new Array<number>(degree - 1).fill(0), 1];
  for (let i = 0, root = 1; i < degree; i++, root = times(root, 2)) {
    for (let j = 0; j < degree; j++) out[j] = times(out[j] as number, root) ^ (out[j + 1] ?? 0);
  }
  return out;
}

function checksFor(data: number[], by: number[]): number[] {
  let rest = by.map(() => 0);
  for (const b of data) {
    const factor = b ^ (rest[0] as number);
    rest = by.map((c, i) => (rest[i + 1] ?? 0) ^ times(c, factor));
  }
  return rest;
}

/** Cuts the data into blocks, and takes from these and their checks in turn. */
function withChecks(version: number, data: number[]): number[] {
  const count = blocksOf(version);
  const short = Math.floor(data.length / count);
  const shorts = count - (data.length % count);
  const by = divisor(checksOf(version));
  const start = (i: number) => i * short + Math.max(0, i - shorts);
  const blocks = Array.from({ length: count }, (_, i) => data.slice(start(i), start(i + 1)));
  const inTurn = (lists: number[][]) =>
    Array.from({ length: Math.max(...lists.map((l) => l.length)) }, (_, i) => lists.map((l) => l[i])).flat();
  const all = [...inTurn(blocks), ...inTurn(blocks.map((b) => checksFor(b, by)))];
  return all.filter((w): w is number => w !== undefined);
}

function draw(version: number, data: number[]): boolean[][] {
  const size = version * 4 + 17;
  const rows = Array.from({ length: size }, () => new Array<boolean | undefined>(size).fill(undefined));
  const set = (x: number, y: number, dark: boolean) => {
    const row = rows[y];
    if (row && x >= 0 && x < size) row[x] = dark;
  };
  drawMarks(version, size, set);
  let i = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5; // that column is for the dotted line
    for (let step = 0; step < size; step++) {
      const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (rows[y]?.[x] !== undefined) continue;
        const bit = ((data[i >>> 3] ?? 0) >>> (7 - (i & 7))) & 1;
        set(x, y, (bit === 1) !== ((x + y) % 2 === 0));
        i++;
      }
    }
  }
  return rows as boolean[][];
}

type Set = (x: number, y: number, dark: boolean) => void;

/** What readers find the code and its kind by. */
function drawMarks(version: number, size: number, set: Set) {
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  const square = (cx: number, cy: number, reach: number, light: number[]) => {
    for (let dy = -reach; dy <= reach; dy++) {
      for (let dx = -reach; dx <= reach; dx++) {
        set(cx + dx, cy + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
      }
    }
  };
  const at = alignment(version, size);
  const last = size - 7;
  for (const x of at) {
    for (const y of at) {
      const corner = (x === 6 && y === 6) || (x === 6 && y === last) || (x === last && y === 6);
      if (!corner) square(x, y, 2, [1]);
    }
  }
  square(3, 3, 4, [2, 4]);
  square(size - 4, 3, 4, [2, 4]);
  square(3, size - 4, 4, [2, 4]);
  drawKind(version, size, set);
}

function alignment(version: number, size: number): number[] {
  if (version === 1) return [];
  const marks = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (marks * 2 - 2)) * 2;
  return [6, ...Array.from({ length: marks - 1 }, (_, i) => size - 7 - i * step)];
}

function drawKind(version: number, size: number, set: Set) {
  const kind = 0x5412; // level M, mask 0
  const bit = (i: number) => ((kind >>> i) & 1) === 1;
  for (let i = 0; i < 15; i++) {
    if (i < 8) set(size - 1 - i, 8, bit(i));
    else set(8, size - 15 + i, bit(i));
    if (i < 6) set(8, i, bit(i));
    else if (i < 8) set(8, i + 1, bit(i));
    else if (i === 8) set(7, 8, bit(i));
    else set(14 - i, 8, bit(i));
  }
  set(8, size - 8, true);
  if (version < 7) return;
  let rest = version;
  for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let i = 0; i < 18; i++) {
    const dark = ((bits >>> i) & 1) === 1;
    const a = size - 11 + (i % 3);
    const b = Math.floor(i / 3);
    set(a, b, dark);
    set(b, a, dark);
  }
}
