/** Not further than one brace, so that a text of nothing but beginnings is read once. */
const REFERENCE = /\$(\$?)\{([^{}]{0,200})\}/g;
const NAME = /^[A-Za-z_]\w{0,127}$/;

/** Puts the values of declared variables into texts. */
export class Variables {
  private constructor(private readonly values: ReadonlyMap<string, string>) {}

  /**
   * @param names what the text declares that it uses
   * @param tell hears what is wrong with them
   */
  static declared(
    names: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
    tell: (mistake: string) => void,
  ): Variables {
    const values = new Map<string, string>();
    for (const name of names) {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      if (!NAME.test(name)) tell(`${JSON.stringify(name)} is no name of a variable`);
      else if (value === undefined)
        tell(`the variable ${name} is not given: give its value; keys and passwords are never given`);
      // Known all the same, so that each use of it is not a mistake of its own.
      values.set(name, value ?? '');
    }
    return new Variables(values);
  }

  /** `${NAME}` becomes its value, `$${NAME}` becomes `${NAME}`. */
  fill(text: string, tell: (mistake: string) => void): string {
    return text.replaceAll(REFERENCE, (whole, escape: string, name: string) => {
      if (escape) return whole.slice(1);
      const value = this.values.get(name);
      if (value === undefined) tell(`${whole} is not declared: name it in env, or write $${whole} for the text itself`);
      return value ?? whole;
    });
  }
}
