import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { LibraryModule } from './library.module.js';

/** `ASSISTANT=off` starts the application without Jackdaw. */
const app = await NestFactory.create(process.env['ASSISTANT'] === 'off' ? LibraryModule : AppModule);
app.enableShutdownHooks();
await app.listen(process.env['PORT'] ?? 3001, '127.0.0.1');
new Logger('Library').log(`Listens at ${await app.getUrl()}`);
