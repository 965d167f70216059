/** What is told of an image that a tool shows, which is not the image itself: its address, or what it is; wire form. */
export interface ToldImage {
  /** Of one that is data; so are `bytes`. */
  readonly media_type?: string;
  readonly bytes?: number;
  readonly url?: string;
}
