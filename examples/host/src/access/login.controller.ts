import { Body, Controller, HttpCode, Post, UnauthorizedException } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { IsString } from 'class-validator';
import { Public } from './public.decorator.js';

class LoginDto {
  @IsString()
  name!: string;

  @IsString()
  password!: string;
}

/** The readers of this example, with their passwords. An application has them in its database, hashed. */
const READERS = new Map([
  ['ann', { password: 'ann', isStaff: false }],
  ['bob', { password: 'bob', isStaff: false }],
  ['eve', { password: 'eve', isStaff: true }],
]);

@Controller('login')
export class LoginController {
  constructor(private readonly jwt: JwtService) {}

  @Public()
  @Post()
  @HttpCode(200)
  async login(@Body() { name, password }: LoginDto): Promise<{ token: string }> {
    const reader = READERS.get(name);
    if (reader?.password !== password) throw new UnauthorizedException('The name or the password is wrong.');
    return { token: await this.jwt.signAsync({ name, isStaff: reader.isStaff }) };
  }
}
