/** An image of a tool result as shown in events: its address or its metadata, not its data; wire form. */
export interface PublishedImage {
  /** Of inline data; so is `bytes`. */
  readonly media_type?: string;
  readonly bytes?: number;
  readonly url?: string;
  /** Of inline data: `GET /api/runs/:id/files/:n` returns the image with this number. */
  readonly file?: number;
}
