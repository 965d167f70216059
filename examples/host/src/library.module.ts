import { Module, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccessModule } from './access/access.module.js';
import { BooksModule } from './books/books.module.js';
import { databaseOptions } from './database/data-source.js';
import { AllErrorsFilter } from './http/all-errors.filter.js';
import { EnvelopeInterceptor } from './http/envelope.interceptor.js';

/** The application as it was before Jackdaw. */
@Module({
  imports: [TypeOrmModule.forRoot({ ...databaseOptions, migrationsRun: true }), AccessModule, BooksModule],
  providers: [
    {
      provide: APP_PIPE,
      useValue: new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }),
    },
    { provide: APP_INTERCEPTOR, useClass: EnvelopeInterceptor },
    { provide: APP_FILTER, useClass: AllErrorsFilter },
  ],
})
export class LibraryModule {}
