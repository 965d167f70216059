import { DataSource, type DataSourceOptions } from 'typeorm';
import { Book } from '../books/book.entity.js';
import { AddIsbn1790000000002 } from './add-isbn.migration.js';
import { CreateBooks1790000000001 } from './create-books.migration.js';

export const databaseUrl = process.env['DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/library';

/** The application's own connection, also for TypeORM's command line. */
export const databaseOptions: DataSourceOptions = {
  type: 'postgres',
  url: databaseUrl,
  entities: [Book],
  migrations: [CreateBooks1790000000001, AddIsbn1790000000002],
  extra: { allowExitOnIdle: true },
};

export const dataSource = new DataSource(databaseOptions);
