import type { DestinationStream } from 'pino';
import { exportsOf } from '../errors/index.js';

/** Writes the lines of the log as text with level names, for people; colours if standard output supports them. */
export async function createTextLog(stream: DestinationStream): Promise<DestinationStream> {
  const { isColorSupported, prettyFactory } = exportsOf(await import('pino-pretty'));
  const toText = prettyFactory({
    colorize: isColorSupported,
    ignore: 'pid,hostname,context',
    messageFormat: '{if context}{context}: {end}{msg}',
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
  });
  return { write: (lines) => stream.write(lines.replace(/[^\n]+\n?/g, (line) => toText(line) ?? '')) };
}
