import { Injectable, type PipeTransform } from '@nestjs/common';
import { AppError } from '../common/index.js';

/** A name in a path: nothing has a blank one, so that it is a mistake of who asks, and not something that is gone. */
@Injectable()
export class NamePipe implements PipeTransform<string, string> {
  /** @throws AppError `VALIDATION_FAILED` */
  transform(name: string): string {
    if (name.trim() !== '') return name;
    const errors = [{ field: 'name', message: 'must not be blank' }];
    throw new AppError('VALIDATION_FAILED', 'The name in the path must not be blank.', { details: { errors } });
  }
}
