import type { DestinationStream } from 'pino';
import { exportsOf, loadPackage } from '../errors/index.js';

/** Writes the lines of the log as text with level names, for people; colours if standard output supports them. */
export async function createTextLog(stream: DestinationStream): Promise<DestinationStream> {
  const { isColorSupported, prettyFactory } = await loadPackage('pino-pretty', 'LOG_FORMAT=text', () =>
    import('pino-pretty').then(exportsOf),
  );
  const toText = prettyFactory({
    colorize: isColorSupported,
    ignore: 'pid,hostname,context',
    messageFormat: '{if context}{context}: {end}{msg}',
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
  });
  return { write: (lines) => stream.write(lines.replace(/[^\n]+\n?/g, (line) => toText(line) ?? '')) };
}
