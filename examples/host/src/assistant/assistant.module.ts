import { Module } from '@nestjs/common';
import { JackdawHttpModule, JackdawMcpModule, JackdawModule } from 'jackdaw';
import { BooksModule } from '../books/books.module.js';
import { databaseUrl } from '../database/data-source.js';
import { AssistantController } from './assistant.controller.js';
import { BooksTools } from './books.tools.js';
import { principalOf } from './principal.js';

@Module({
  imports: [
    BooksModule,
    JackdawModule.forRoot({
      config: { DATABASE_URL: databaseUrl },
      builtinTools: false,
      agentChanges: {
        name: 'librarian',
        instructions: 'You help readers to find and to borrow books. Look a book up before you lend it.',
        tools: ['find_books', 'borrow_book'],
      },
    }),
    JackdawHttpModule.forRoot({ prefix: 'assistant', routes: ['agent', 'runs', 'sessions'], principal: principalOf }),
    JackdawMcpModule.forRoot({ principal: principalOf }),
  ],
  controllers: [AssistantController],
  providers: [BooksTools],
})
export class AssistantModule {}
