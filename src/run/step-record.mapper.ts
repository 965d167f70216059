const MAX_SUBJECT_LENGTH = 256;

/** A subject may be a name that a model made up: as much of it as every database stores and gives back alike. */
export function toSubject(about: string): string {
  return about.slice(0, MAX_SUBJECT_LENGTH).toWellFormed().replaceAll('\0', '\ufffd');
}

/** What a step gave, as it is recorded. */
export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}
