// #error ends the translation with its text.
#if __UPC__
#error nothing for UPC here // error: nothing for UPC here
#endif

int main(void)
{
    return 0;
}
