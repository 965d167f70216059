import { SetMetadata } from '@nestjs/common';

export const IS_PUBLIC = 'jackdaw:public';

/** Marks a route, or all routes of a controller, that needs no credential (such as health). */
export const Public = () => SetMetadata(IS_PUBLIC, true);
