import { Injectable } from '@nestjs/common';
import { IsInt, IsString, Min } from 'class-validator';
import { Tool, type ToolContext } from 'jackdaw';
import type { Book } from '../books/book.entity.js';
import { BooksService } from '../books/books.service.js';

class FindBooks {
  /** Words of the title or the author. */
  @IsString()
  words!: string;
}

class BorrowBook {
  @IsInt()
  @Min(1)
  bookId!: number;
}

/** Tools of the agent. They use the application's own service. */
@Injectable()
export class BooksTools {
  constructor(private readonly books: BooksService) {}

  @Tool({ name: 'find_books', description: 'Finds books by title or author.', effect: 'read' })
  find({ words }: FindBooks): Promise<Book[]> {
    return this.books.find(words);
  }

  /** Lending the same book to the same reader again changes nothing, so the call may repeat after a crash. */
  @Tool({ name: 'borrow_book', description: 'Lends a book to the reader.', effect: 'idempotent' })
  borrow({ bookId }: BorrowBook, { principal }: ToolContext): Promise<Book> {
    return this.books.lend(bookId, principal.id);
  }
}
