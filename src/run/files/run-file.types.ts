/** Binary content of a tool's result. It is recorded as a step of its own, beside the step of the call. */
export interface RunFile {
  /** Unique in the run: counted from 1, after the files of the turns that the run sees. A fork continues the numbers. */
  readonly n: number;
  readonly mediaType: string;
  readonly bytes: Buffer;
  /** Name or address that the tool gave. */
  readonly name?: string;
  /** The text before the base64 from which it was read: `data:application/pdf;base64,`. */
  readonly prefix?: string;
}

/** The metadata of a file; wire form. */
export interface PublishedFile {
  /** Unique in the run: `GET /api/runs/:id/files/:n` returns the content. */
  readonly n: number;
  readonly media_type: string;
  readonly bytes: number;
  readonly name?: string;
}
