import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = 'jackdaw:public';

/** A route, or all routes of a controller, that needs no credential: health, above all. */
export const Public = () => SetMetadata(IS_PUBLIC, true);
