import { ConflictException, Injectable, NotFoundException } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ILike, IsNull, Repository } from 'typeorm';
import { Book } from './book.entity.js';

@Injectable()
export class BooksService {
  constructor(@InjectRepository(Book) private readonly books: Repository<Book>) {}

  find(words: string): Promise<Book[]> {
    const like = ILike(`%${words}%`);
    return this.books.find({ where: [{ title: like }, { author: like }], order: { id: 'ASC' }, take: 20 });
  }

  async get(id: number): Promise<Book> {
    const book = await this.books.findOneBy({ id });
    if (!book) throw new NotFoundException(`There is no book ${id}.`);
    return book;
  }

  async lend(id: number, reader: string): Promise<Book> {
    const { affected } = await this.books.update({ id, lentTo: IsNull() }, { lentTo: reader });
    const book = await this.get(id);
    if (!affected && book.lentTo !== reader) throw new ConflictException(`"${book.title}" is lent.`);
    return book;
  }
}
