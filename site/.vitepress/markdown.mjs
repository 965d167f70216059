// The differences of the pages from the Markdown of VitePress.
import { anchorOf } from '../text.mjs';

const ENDS_CHINESE = /[\p{Script=Han}，。；：、！？（）“”《》]$/u;
const STARTS_CHINESE = /^[\p{Script=Han}，。；：、！？（）“”《》]/u;

export const MARKDOWN = {
  anchor: { slugify: anchorOf },
  config({ renderer, utils }) {
    const { rules } = renderer;
    // Double braces of a text are no Vue template.
    const escape = (text) => utils.escapeHtml(text).replaceAll('{{', '&#123;&#123;');
    rules.text = (tokens, index) => escape(tokens[index].content);
    rules.code_inline = (tokens, index) => `<code>${escape(tokens[index].content)}</code>`;
    // Docstrings have indented code.
    rules.code_block = (tokens, index, ...rest) => {
      tokens[index].info = 'ts';
      return rules.fence(tokens, index, ...rest);
    };
    // Chinese has no spaces between words, so a line end in a paragraph is none.
    rules.softbreak = (tokens, index) => {
      const isInside =
        ENDS_CHINESE.test(tokens[index - 1]?.content ?? '') && STARTS_CHINESE.test(tokens[index + 1]?.content ?? '');
      return isInside ? '' : '\n';
    };
  },
};

/** The HTML that is searched: of the API reference without headings such as "Returns", which every function has. */
export function renderSearched(text, env, markdown) {
  const html = markdown.render(text, env);
  if (env.frontmatter?.search === false) return '';
  return env.relativePath.startsWith('api/') ? html.replace(/<h([4-6])\b[^>]*>.*?<\/h\1>/gs, '') : html;
}
