import { IsString } from 'class-validator';

/** An image. */
export class GivenImageDto {
  /**
   * An `https://` URL, which the provider fetches, or a data URI of a PNG, JPEG, GIF or WebP: `data:image/png;base64,…`.
   * @example 'https://example.com/chart.png'
   */
  @IsString()
  url!: string;
}
