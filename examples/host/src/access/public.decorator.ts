import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = 'isPublic';

/** A route without a token. */
export const Public = () => SetMetadata(IS_PUBLIC, true);
