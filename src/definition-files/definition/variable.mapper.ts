/** Stops at the next brace, so that matching stays linear. */
const REFERENCE = /\$(\$?)\{([^{}]{0,200})\}/g;
const NAME = /^[A-Za-z_]\w{0,127}$/;

/** Replaces declared variables in texts. */
export class Variables {
  private constructor(private readonly values: ReadonlyMap<string, string>) {}

  /**
   * @param names variables that the text declares
   * @param report receives mistakes
   */
  static declared(
    names: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
    report: (mistake: string) => void,
  ): Variables {
    const values = new Map<string, string>();
    for (const name of names) {
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      if (!NAME.test(name)) report(`${JSON.stringify(name)} is not a name of a variable`);
      else if (value === undefined)
        report(`the variable ${name} is not given: give its value; keys and passwords are never given`);
      // Defined despite the mistake, so that uses of the variable cause no further mistakes.
      values.set(name, value ?? '');
    }
    return new Variables(values);
  }

  /** Replaces `${NAME}` by its value and `$${NAME}` by `${NAME}`. */
  fill(text: string, report: (mistake: string) => void): string {
    return text.replaceAll(REFERENCE, (whole, escape: string, name: string) => {
      if (escape) return whole.slice(1);
      const value = this.values.get(name);
      if (value === undefined)
        report(`${whole} is not declared: name it in env, or write $${whole} for the text itself`);
      return value ?? whole;
    });
  }
}
