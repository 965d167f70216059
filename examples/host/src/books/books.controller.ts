import { Body, Controller, Get, Param, ParseIntPipe, Post, Query, Req } from '@nestjs/common';
import { IsOptional, IsString, MaxLength } from 'class-validator';
import type { ReaderRequest } from '../access/reader.js';
import type { Book } from './book.entity.js';
import { BooksService } from './books.service.js';

class FindBooksDto {
  @IsOptional()
  @IsString()
  @MaxLength(100)
  words?: string;
}

class LoanDto {
  /** A note for the staff. */
  @IsOptional()
  @IsString()
  note?: string;
}

@Controller('books')
export class BooksController {
  constructor(private readonly books: BooksService) {}

  @Get()
  find(@Query() { words }: FindBooksDto): Promise<Book[]> {
    return this.books.find(words ?? '');
  }

  @Get(':id')
  get(@Param('id', ParseIntPipe) id: number): Promise<Book> {
    return this.books.get(id);
  }

  @Post(':id/loan')
  lend(@Param('id', ParseIntPipe) id: number, @Body() _loan: LoanDto, @Req() request: ReaderRequest): Promise<Book> {
    return this.books.lend(id, request.reader!.name);
  }
}
