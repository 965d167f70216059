import { Module } from '@nestjs/common';
import { WeatherTools } from './weather.tools.js';

/** Jackdaw finds the tools of all providers. Controllers of yours have routes below /api. */
@Module({ providers: [WeatherTools] })
export class AppModule {}
