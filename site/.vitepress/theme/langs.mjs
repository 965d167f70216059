// Replaces a file of VitePress' theme: the language menu links to the same page only where that page is translated.
import { useData } from 'vitepress';
import { computed } from 'vue';

const homeOf = (key) => (key === 'root' ? '/' : `/${key}/`);

/** Called by the menus of the theme. */
export function useLangs() {
  const { site, localeIndex, frontmatter } = useData();
  const currentLang = computed(() => ({
    label: site.value.locales[localeIndex.value]?.label,
    link: homeOf(localeIndex.value),
  }));
  const localeLinks = computed(() =>
    Object.entries(site.value.locales)
      .filter(([key]) => key !== localeIndex.value)
      .map(([key, { label }]) => ({ text: label, link: frontmatter.value.twin ?? homeOf(key) })),
  );
  return { localeLinks, currentLang };
}
