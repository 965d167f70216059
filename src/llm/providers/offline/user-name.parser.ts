/** A name: one to three capitalized words, or up to 20 characters without spaces or marks. */
const NAME = String.raw`(\p{Lu}[\p{L}'’.-]*(?: \p{Lu}[\p{L}'’.-]*){0,2}|\p{Script=Han}{1,10}|[\p{L}\d_-]{1,20})`;
const INTRODUCTIONS = [
  new RegExp(String.raw`\b(?:[Mm]y name(?:'s|’s| is)|[Cc]all me) ${NAME}`, 'u'),
  /\bI(?:'m|’m| am) (\p{Lu}[\p{L}'’-]*)/u,
  /(?:我的名字(?:是|叫)|我叫|叫我)\s*(\p{Script=Han}{1,10}|[\p{L}\d_-]{1,20})/u,
];
const NO_NAME = /^(?:什么|啥|谁|in|at|on|back)/i;
const ASKS_NAME =
  /\b(?:what(?:'s|’s| is) my name|who am i|(?:remember|know) my name)\b|我(?:的名字)?叫什么|(?:记得|知道)我(?:的名字|叫什么|是谁)|我的名字是什么|我是谁/i;

/** The name by which a user introduces themselves. */
export function findUserName(text: string): string | undefined {
  for (const introduction of INTRODUCTIONS) {
    const name = introduction.exec(text)?.[1]?.replace(/[.'’-]+$/, '');
    if (name !== undefined && !NO_NAME.test(name)) return name;
  }
  return undefined;
}

export function asksUserName(text: string): boolean {
  return ASKS_NAME.test(text);
}
