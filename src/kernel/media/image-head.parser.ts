/** Width and height in pixels. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** The format of an image, from its first bytes. The size is undefined when the bytes end before it. */
export interface ImageHead {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  readonly size?: PixelSize;
}

const PNG = '89504e470d0a1a0a';
/** Markers of a JPEG that start a frame: 0xC0 to 0xCF without the tables DHT, JPG and DAC (ITU-T T.81, table B.1). */
const FRAME = { first: 0xc0, last: 0xcf, others: new Set([0xc4, 0xc8, 0xcc]) };
/** The start and the end of an image, and restarts: markers without a length. */
const BARE = { first: 0xd0, last: 0xd9, temporary: 0x01 };

/** Recognises PNG, JPEG, GIF and WebP by their magic bytes; `null` for other content. */
export function readImageHead(bytes: Buffer): ImageHead | null {
  if (bytes.toString('hex', 0, 8) === PNG) return head('image/png', bytes.length >= 24 && pngSize(bytes));
  if (bytes.toString('hex', 0, 3) === 'ffd8ff') return head('image/jpeg', jpegSize(bytes));
  const ascii = bytes.toString('latin1', 0, 16);
  if (/^GIF8[79]a/.test(ascii)) return head('image/gif', bytes.length >= 10 && gifSize(bytes));
  if (/^RIFF[^]{4}WEBP/.test(ascii)) return head('image/webp', bytes.length >= 30 && webpSize(bytes));
  return null;
}

function head(mediaType: ImageHead['mediaType'], size: PixelSize | false | undefined): ImageHead {
  return size ? { mediaType, size } : { mediaType };
}

function pngSize(bytes: Buffer): PixelSize {
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gifSize(bytes: Buffer): PixelSize {
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** The three kinds of a first chunk (developers.google.com/speed/webp/docs/riff_container). */
function webpSize(bytes: Buffer): PixelSize | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Walks over the segments to the first frame: metadata before it may have many kilobytes. */
function jpegSize(bytes: Buffer): PixelSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) at += 1;
    else if (marker === BARE.temporary || (marker >= BARE.first && marker <= BARE.last)) at += 2;
    else if (marker >= FRAME.first && marker <= FRAME.last && !FRAME.others.has(marker)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    } else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
