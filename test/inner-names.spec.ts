import { describe, expect, it } from 'vitest';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const { removeInnerNames } = (await import(resolve('scripts/inner-names.mjs'))) as {
  removeInnerNames: (file: string) => void;
};

const BUNDLED = `var __name = (target, value) => Object.defineProperty(target, "name", { value });
function outer(items) {
  __name(inner, "inner");
  function inner(item) {
    return item;
  }
  const twice = /* @__PURE__ */ __name((item) => [item, item].map(/* @__PURE__ */ __name(function one(x) { return x; }, "one")), "twice");
  class Inner {
    static {
      __name(this, "Inner");
    }
  }
  return items.map(twice);
}
__name(outer, "outer");
var Limit = class {
  static {
    __name(this, "Limit");
  }
  fire = /* @__PURE__ */ __name(() => 1, "fire");
};
var late = /* @__PURE__ */ __name((item) => item, "late");
`;

const STRIPPED = `var __name = (target, value) => Object.defineProperty(target, "name", { value });
function outer(items) {
  
  function inner(item) {
    return item;
  }
  const twice = (item) => [item, item].map(function one(x) { return x; });
  class Inner {
    static {
      __name(this, "Inner");
    }
  }
  return items.map(twice);
}
__name(outer, "outer");
var Limit = class {
  static {
    __name(this, "Limit");
  }
  fire = () => 1;
};
var late = /* @__PURE__ */ __name((item) => item, "late");
`;

describe('removeInnerNames', () => {
  it('removes names that code sets at each execution, and keeps those of classes and of functions of the module', () => {
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-names-'));
    const file = join(folder, 'bundle.js');
    writeFileSync(file, BUNDLED);
    removeInnerNames(file);
    const text = readFileSync(file, 'utf8');
    rmSync(folder, { recursive: true });
    expect(text).toBe(STRIPPED);
  });
});
