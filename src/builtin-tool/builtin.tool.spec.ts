import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { AppError } from '../errors/index.js';
import { calculate } from './builtin.tool.js';

describe('a calculator', () => {
  it.each([
    ['100 + 200', '300'],
    ['0.1+0.2', '0.3'],
    ['123456789 * 987654321', '121932631112635269'],
    ['2^100', '1267650600228229401496703205376'],
    ['1/3', '0.333333333333333'],
    ['2/3', '0.666666666666667'],
    ['20000/3', '6666.66666666667'],
    ['1/3000', '0.000333333333333333'],
    ['10/4', '2.5'],
    ['-2^2', '-4'],
    ['(-2)^2', '4'],
    ['2^-1', '0.5'],
    ['2^3^2', '512'],
    ['2**3', '8'],
    ['2^0.5', '1.4142135623731'],
    ['--3', '3'],
    ['2 - -3', '5'],
    ['.5*10', '5'],
    ['3.', '3'],
    ['1.5e3', '1500'],
    ['10 % 3', '1'],
    ['-7 % 3', '2'],
    ['5.5 % 2', '1.5'],
    ['20%*50', '10'],
    ['100*20%', '20'],
    ['（１００＋２００）×２÷４', '150'],
    ['5 − 3', '2'],
    [' \t1\n+ 1 ', '2'],
    ['1/10^9', '1e-9'],
    ['1/3/10^9', '3.33333333333333e-10'],
    ['0^0', '1'],
    ['0*5', '0'],
    ['1 - 1', '0'],
    ['0.1^300', '1e-300'],
    ['1.05^1000', '1546318920731930000000'],
    ['(-2)^-3', '-0.125'],
    ['(1/3+1/7)*21', '10'],
    ['99999999999999999.5', '99999999999999999.5'],
    ['9.99999999999999999/1', '9.99999999999999999'],
    ['0.0001', '0.0001'],
    ['200 + 10%', '220'],
    ['200 - 10%', '180'],
    ['20% - 5', '-4.8'],
    ['5/20%', '25'],
    ['20%%', '0.002'],
    ['1,234.5 + 1', '1235.5'],
    ['1，234 + 1', '1235'],
    ['max(1,234)', '234'],
    ['max((1,234), 5)', '1234'],
    ['MAX(1234,5678)', '5678'],
    ['max((1,000), 2)', '1000'],
    ['6 ⋅ 7 ∗ 2', '84'],
    ['5‑3 ∕ 1', '2'],
    ['2(3+4)', '14'],
    ['2 π', '6.28318530717959'],
    ['sqrt(16)', '4'],
    ['sqrt(1/4)', '0.5'],
    ['sqrt(2)^2', '2'],
    ['sqrt(2)', '1.4142135623731'],
    ['abs(-3) + min(3,1,2)', '4'],
    ['round(-2.5)', '-3'],
    ['round(3.14159, 2)', '3.14'],
    ['round(1250, -2)', '1300'],
    ['floor(-1.5) + ceil(-1.5)', '-3'],
    ['sin(pi)', '0'],
    ['sin(1000000*pi)', '0'],
    ['cos(pi/3)', '0.5'],
    ['tan(pi/4)', '1'],
    ['asin(1)', '1.5707963267949'],
    ['atan(1)', '0.785398163397448'],
    ['acos(1)', '0'],
    ['ln(e)', '1'],
    ['log(8, 2)', '3'],
    ['log10(1000) + log2(8)', '6'],
    ['exp(1)', '2.71828182845905'],
    ['pow(2, 10) + mod(10, 3)', '1025'],
    ['10 mod 3', '1'],
    ['gcd(12, 18) + lcm(4, 6, 10)', '66'],
    ['5! + factorial(3)', '126'],
    ['-5!', '-120'],
    ['170!/169!', '170'],
    [`${'1+'.repeat(499)}1`, '500'],
  ])('evaluates %s to %s', (expression, result) => {
    expect(calculate(expression)).toBe(result);
  });

  it.each([
    ['1/0', 'Division by zero'],
    ['5 % 0', 'Division by zero'],
    ['0^-1', 'Division by zero'],
    ['10^309', 'too large'],
    ['9^9^9', 'too large'],
    ['1e9999', 'too large'],
    ['0.5^9999', 'too close to 0'],
    ['0.1^400', 'too close to 0'],
    ['(-8)^(1/3)', 'is not a real number'],
    ['', 'ends too early at position 0'],
    ['1 +', 'ends too early at position 3'],
    ['(1+2', '")" is missing'],
    ['1 2', 'unexpected "2" at position 2'],
    ['2 + foo(3)', 'unexpected "foo(3)" at position 4'],
    ['process.exit()', 'at position 0'],
    ['1..2', 'unexpected'],
    ['tan(pi/2)', 'tan has no value'],
    ['sqrt(-1)', 'no real square root'],
    ['log(0)', 'above 0'],
    ['log(5, 1)', 'base 1'],
    ['asin(2)', 'from -1 to 1'],
    ['171!', 'too large'],
    ['3!!!', 'too large'],
    ['(-1)!', 'no factorial'],
    ['gcd(1.5, 2)', 'whole numbers'],
    ['sin(10^20)', '10^15 radians'],
    ['sqrt()', 'sqrt takes 1 number, got 0'],
    ['sqrt 2', 'sqrt is a function'],
    ['pi(2)', 'pi is not a function'],
    ['1/2(3)', 'ambiguous'],
    ['1,23', 'unexpected ",23" at position 1'],
    ['0,234', 'unexpected ",234" at position 1'],
    ['1,2345', 'unexpected'],
    ['max(1,000)', 'separates thousands or numbers: write numbers without it'],
    ['max(1,234, 5)', 'the comma in "1,234"'],
    ['max(5, 1，234)', 'at position 7'],
    ['%%', 'unexpected "%%" at position 0'],
    ['x = 1', 'unexpected "x = 1" at position 0'],
    ['f(x) = x', 'at position 0'],
    ['[1, 2]', 'at position 0'],
    ['"a"', 'at position 0'],
    ["3'", 'at position 1'],
    ['1; 2', 'at position 1'],
    ['1\n2', 'at position 2'],
    ['1 ? 2 : 3', 'at position 2'],
    ['3 cm', 'unexpected "cm" at position 2'],
    ['2 to 3', 'at position 2'],
    ['0x1F', 'unexpected "x1F" at position 1'],
    ['constructor', 'at position 0'],
    ['__proto__', 'at position 0'],
    ['pi.constructor', 'at position 2'],
    ['import(1)', 'at position 0'],
    ['Infinity', 'at position 0'],
    ['true', 'at position 0'],
    [`${'1%('.repeat(90)}1`, '")" is missing'],
    ['1'.repeat(1_001), 'longer than 1000'],
    ['('.repeat(400), 'deeper than 100'],
    ['-'.repeat(900) + '1', 'deeper than 100'],
    ['2^'.repeat(400) + '2', 'deeper than 100'],
  ])('refuses %.40s', (expression, reason) => {
    expect(() => calculate(expression)).toThrow(reason);
  });

  it('agrees with JavaScript on sums of small integers', () => {
    const term = fc.tuple(fc.constantFrom('+', '-', '*'), fc.integer({ min: 0, max: 999 }));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999 }), fc.array(term, { maxLength: 4 }), (first, terms) => {
        const products: number[] = [first];
        for (const [sign, value] of terms) {
          if (sign === '*') products.push((products.pop() ?? 1) * value);
          else products.push(sign === '-' ? -value : value);
        }
        const expected = products.reduce((sum, value) => sum + value, 0);
        expect(calculate(`${first}${terms.map(([sign, value]) => sign + value).join('')}`)).toBe(String(expected + 0));
      }),
    );
  });

  it('evaluates or rejects any text quickly', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'0123456789.,+-*/%^()! e×'.split(''), 'sqrt(', 'max(', 'ln(', 'sin(', 'mod', 'pi'),
      maxLength: 200,
    });
    fc.assert(
      fc.property(text, (expression) => {
        expect(outcomeOf(expression)).toMatch(/^(-?\d+(\.\d+)?(e[+-]\d+)?|refused)$/);
      }),
      { numRuns: 2_000 },
    );
  });
});

function outcomeOf(expression: string): string {
  try {
    return calculate(expression);
  } catch (error) {
    if (error instanceof AppError) return 'refused';
    throw error;
  }
}
