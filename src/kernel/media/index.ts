/** Images and other binary data in texts: their formats, sizes and limits. */
export { DISPLAYED_IMAGES, isBinary, mediaTypeOf, parseBinaryField, parseBinaryText } from './binary-text.parser.js';
export { isBase64, imageBytes, MAX_IMAGES, parseImage, type ParsedImage } from './image.parser.js';
