// The texts of the Chinese pages' frame.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../pages.mjs';
import { guideSidebar } from '../sidebar.mjs';

const FIRST = [
  { text: '快速开始', link: '/zh/start' },
  { text: '全部页面', link: '/zh/contents' },
];

export const CHINESE = {
  description: 'NestJS 后端的大模型智能体',
  themeConfig: {
    nav: [...FIRST, { text: 'REST API', link: '/zh/rest-api' }, { text: 'API 参考（英文）', link: '/api/' }],
    sidebar: existsSync(join(ROOT, 'docs/zh/index.md')) ? guideSidebar('docs/zh/index.md', FIRST) : FIRST,
    outline: { level: [2, 3], label: '本页目录' },
    docFooter: { prev: '上一页', next: '下一页' },
    darkModeSwitchLabel: '外观',
    darkModeSwitchTitle: '切换到深色模式',
    lightModeSwitchTitle: '切换到浅色模式',
    sidebarMenuLabel: '目录',
    returnToTopLabel: '回到顶部',
    langMenuLabel: '切换语言',
    skipToContentLabel: '跳到正文',
    notFound: {
      title: '页面不存在',
      quote: '没有这个页面。它可能已改名，也可能尚未翻译。',
      linkLabel: '前往首页',
      linkText: '前往首页',
    },
  },
};

export const CHINESE_SEARCH = {
  translations: {
    button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
    modal: {
      displayDetails: '显示详细列表',
      resetButtonTitle: '清除',
      backButtonTitle: '关闭',
      noResultsText: '没有结果：',
      footer: {
        selectText: '打开',
        selectKeyAriaLabel: '回车',
        navigateText: '选择',
        navigateUpKeyAriaLabel: '上箭头',
        navigateDownKeyAriaLabel: '下箭头',
        closeText: '关闭',
        closeKeyAriaLabel: 'Esc',
      },
    },
  },
};
