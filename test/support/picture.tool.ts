import { Injectable } from '@nestjs/common';
import { Tool, withImages } from '../../src/index.js';
import { z } from 'zod';

const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

@Injectable()
export class PictureTools {
  @Tool({ description: 'Plots a value.', effect: 'read', input: z.object({ of: z.string() }) })
  plot({ of }: { of: string }) {
    return withImages({ of, mean: 7 }, [`data:image/png;base64,${DOT}`]);
  }
}
