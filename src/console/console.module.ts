import { Module } from '@nestjs/common';
import { LoginController } from './login.controller.js';

@Module({ controllers: [LoginController] })
export class ConsoleModule {}
