// Pages that are opened as files may not read other files: the search shows titles alone there.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
