// Fills the menu of versions from the list that versions.js, beside the versions' folders, defines.
for (const menu of document.querySelectorAll("details.versions")) {
  const list = menu.querySelector("ul");
  list.replaceChildren();
  for (const one of window.FLYLOOM_VERSIONS || []) {
    const item = document.createElement("li");
    const name = `${one.name} (${one.about})`;
    if (one.built && one.name !== menu.dataset.built) {
      const link = document.createElement("a");
      link.href = `${menu.dataset.root}../${one.folder}/index.html`;
      link.textContent = name;
      item.append(link);
    } else {
      item.textContent = one.name === menu.dataset.built ? `${name}, this one` : name;
    }
    list.append(item);
  }
}
