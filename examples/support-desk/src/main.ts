import 'reflect-metadata';
import { Logger, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { HttpExceptionFilter } from 'jackdaw';
import { AppModule } from './app.module.js';
import { Settings } from './settings/settings.service.js';

const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter());
app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }));
// Errors of Jackdaw have their status and code; all others are as Nest has them.
app.useGlobalFilters(new HttpExceptionFilter());
// Runs that are under way are left for the next start.
app.enableShutdownHooks(['SIGTERM', 'SIGINT'], { useProcessExit: true });
await app.listen(app.get(Settings).port, '127.0.0.1');
new Logger('SupportDesk').log(`Listens at ${await app.getUrl()}`);
